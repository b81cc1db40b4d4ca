#include "identifier_names.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace alidade::detail {
namespace {

constexpr std::string_view keywords[] = {"A",
                                         "bool",
                                         "clock",
                                         "const",
                                         "ctmc",
                                         "C",
                                         "double",
                                         "dtmc",
                                         "E",
                                         "endinit",
                                         "endinvariant",
                                         "endmodule",
                                         "endobservables",
                                         "endrewards",
                                         "endsystem",
                                         "false",
                                         "formula",
                                         "filter",
                                         "func",
                                         "F",
                                         "global",
                                         "G",
                                         "init",
                                         "invariant",
                                         "I",
                                         "int",
                                         "label",
                                         "max",
                                         "mdp",
                                         "min",
                                         "module",
                                         "X",
                                         "nondeterministic",
                                         "observable",
                                         "observables",
                                         "of",
                                         "Pmax",
                                         "Pmin",
                                         "P",
                                         "pomdp",
                                         "popta",
                                         "probabilistic",
                                         "prob",
                                         "pta",
                                         "rate",
                                         "rewards",
                                         "Rmax",
                                         "Rmin",
                                         "R",
                                         "S",
                                         "stochastic",
                                         "system",
                                         "true",
                                         "U",
                                         "W"};

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string identifier(const std::string& name) {
    std::string result;
    if (name.empty() || (name.front() >= '0' && name.front() <= '9')) result.push_back('_');
    for (const char c : name) result.push_back(is_letter(c) || (c >= '0' && c <= '9') ? c : '_');
    if (std::find(std::begin(keywords), std::end(keywords), result) != std::end(keywords)) result += '_';
    return result;
}

}  // namespace

std::vector<std::string> identifier_names(const std::vector<std::string>& names) {
    // Those that need no change come first, so that they keep their name.
    std::vector<std::string> result(names.size());
    std::set<std::string> taken;
    for (const bool changed : {false, true})
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::string stem = identifier(names[i]);
            if ((stem != names[i]) != changed) continue;
            std::string name = stem;
            for (int k = 2; !taken.insert(name).second; ++k) name = fmt::format("{}_{}", stem, k);
            result[i] = std::move(name);
        }
    return result;
}

}  // namespace alidade::detail
