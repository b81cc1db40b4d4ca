#include "alidade/problem/catalogue.hpp"

#include <fmt/ranges.h>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "alidade/spec/request.hpp"
#include "families/families.hpp"

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
                                      detail::suggestion(name, names), fmt::join(names, ", ")));
}

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all = {
        detail::garnet_family(),       detail::needle_family(),      detail::riverswim_family(),
        detail::lock_family(),         detail::chain_family(),       detail::inventory_family(),
        detail::gridworld_family(),    detail::reservoir_family(),   detail::queue_family(),
        detail::epidemic_family(),     detail::fishery_family(),     detail::hard_family(),
        detail::hard_simplex_family(), detail::hard_short_family(),  detail::linear_random_family(),
        detail::linear_lock_family(),  detail::linear_grid_family(),
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
