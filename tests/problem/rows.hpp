#pragma once

#include <algorithm>
#include <cmath>
#include <map>

#include "alidade/problem/problem.hpp"

namespace alidade {

/// A law of the next state, without its zeros.
using Row = std::map<State, double>;

/// One row of one base model, read entry by entry.
inline Row base_row(const Problem& problem, Index base, State s, Action a) {
    const FeatureMap& map = problem.features();
    const Index pair = map.pair(s, a);
    Row row;
    for (Index entry = map.first_entry(pair); entry < map.first_entry(pair + 1); ++entry) {
        const double chance = map.phi(entry)[static_cast<std::size_t>(base)];
        if (chance != 0) row[map.targets()[static_cast<std::size_t>(entry)]] = chance;
    }
    return row;
}

/// The largest difference of two rows.
inline double distance(const Row& a, const Row& b) {
    double worst = 0;
    const auto compare = [&worst](const Row& x, const Row& y) {
        for (const auto& [state, chance] : x) {
            const auto found = y.find(state);
            worst = std::max(worst, std::abs(chance - (found == y.end() ? 0.0 : found->second)));
        }
    };
    compare(a, b);
    compare(b, a);
    return worst;
}

}  // namespace alidade
