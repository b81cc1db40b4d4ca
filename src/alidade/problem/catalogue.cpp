#include "alidade/problem/catalogue.hpp"

#include <fmt/ranges.h>

#include "alidade/error.hpp"
#include "alidade/problem/address.hpp"
#include "alidade/problem/families/families.hpp"
#include "alidade/problem/nearest_name.hpp"

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
    const std::string_view rest = uri.substr(prefix.size());
    const std::size_t question = rest.find('?');
    const Family& family = find_family(rest.substr(0, question));
    std::map<std::string, std::string> given;
    if (question != std::string_view::npos) given = parse_query(uri, rest.substr(question + 1));
    return family.make(FamilyArguments(fmt::format("{}{}", prefix, family.name), family.parameters, given));
}

}  // namespace alidade
