#include "alidade/problem/catalogue.hpp"

#include <fmt/ranges.h>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "alidade/spec/request.hpp"
#include "families/families.hpp"
#include "families/parameters.hpp"

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

/// The family with a truth that may be a little off: two more parameters.
Family off_by(Family family) {
    family.parameters.push_back(detail::real_parameter(
        "foreign", "0", 0, 1, "Share of the truth that is not what the model says; 0: all of it is."));
    family.parameters.push_back(word_parameter(
        "foreign_law", {"random", "uniform", "shared", "lowest"},
        "What that share is: a law of its own on each pair's successors, all of them alike, one law for all "
        "pairs, or the lowest successor."));
    family.make = [make = std::move(family.make)](const FamilyArguments& arguments) {
        Problem problem = make(arguments);
        const double share = arguments.real("foreign");
        if (share == 0) return problem;
        ProblemDescription parts = problem.description();
        parts.foreign =
            foreign_part(problem.successors(), share, parse_foreign_law(arguments.text("foreign_law")),
                         static_cast<std::uint64_t>(arguments.integer("seed")));
        return Problem(std::move(parts));
    };
    return family;
}

std::vector<Family> all_families() {
    std::vector<Family> all;
    for (Family (*family)() :
         {detail::garnet_family, detail::needle_family, detail::riverswim_family, detail::lock_family,
          detail::chain_family, detail::inventory_family, detail::gridworld_family, detail::reservoir_family,
          detail::queue_family, detail::epidemic_family, detail::fishery_family, detail::hard_family,
          detail::hard_simplex_family, detail::hard_short_family, detail::linear_random_family,
          detail::linear_lock_family, detail::linear_grid_family})
        all.push_back(off_by(family()));
    return all;
}

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all = all_families();
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
