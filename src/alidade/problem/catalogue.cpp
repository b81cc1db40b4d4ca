#include "alidade/problem/catalogue.hpp"

#include <fmt/ranges.h>

#include "alidade/error.hpp"
#include "alidade/problem/families/families.hpp"
#include "alidade/spec/nearest_name.hpp"
#include "alidade/spec/request.hpp"

namespace alidade {
namespace {

constexpr std::string_view prefix = "builtin:";

const Family& find_family(std::string_view name) {
    std::vector<std::string> names;
    for (const Family& family : families()) {
        if (family.name == name) return family;
        names.push_back(family.name);
    }
    throw InvalidArgument(fmt::format("there is no built-in family '{}'{}; the families are {}", name,
                                      suggestion(name, names), fmt::join(names, ", ")));
}

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        garnet_family(), needle_family(),    riverswim_family(), lock_family(),
        chain_family(),  inventory_family(), gridworld_family(), reservoir_family(),
    };
    return all;
}

bool is_builtin(std::string_view uri) {
    return uri.starts_with(prefix);
}

Problem make_builtin(std::string_view uri) {
    expects(is_builtin(uri),
            "'{}' is not the address of a built-in problem; one looks like {}NAME?parameter=value", uri,
            prefix);
    const Request request = parse_request(uri.substr(prefix.size()), uri);
    const Family& family = find_family(request.name);
    return family.make(
        FamilyArguments(fmt::format("{}{}", prefix, family.name), family.parameters, request.given));
}

}  // namespace alidade
