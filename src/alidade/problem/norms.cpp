#include "alidade/problem/inspection.hpp"

#include <algorithm>
#include <vector>

namespace alidade {
namespace {

/// max over V in [0,1]^m of |sum_j V_j phi_j|. Widths are of generators that sum to zero: one more, minus the
/// sum of all, makes them so, and leaves the maximum as it is, since V with it is 1-V without it.
WidthBracket longest_feature(const FeatureMap& map, Index pair, Width& width) {
    const Index d = map.features(), m = map.successors(pair);
    const auto first = static_cast<std::ptrdiff_t>(map.first_entry(pair) * d);
    std::vector<double> generators(map.values().begin() + first, map.values().begin() + first + m * d);
    generators.resize(at((m + 1) * d), 0.0);
    for (Index j = 0; j < m; ++j)
        for (Index i = 0; i < d; ++i) generators[at(m * d + i)] -= generators[at(j * d + i)];
    std::vector<std::uint8_t> witness(at(m + 1), 0);
    return width.bracket({generators, d, m + 1}, witness);
}

}  // namespace

double Norms::scaled_norm_bound() const noexcept {
    return features_are_unit() ? norm_bound : norm_bound * features.upper;
}

Norms measure_norms(const Problem& problem) {
    const FeatureMap& map = problem.features();
    Norms norms;
    norms.norm_bound = map.norm_bound();
    Width width;
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        const WidthBracket found = longest_feature(map, pair, width);
        if (found.lower > norms.features.lower) norms.pair = pair;
        norms.features.lower = std::max(norms.features.lower, found.lower);
        if (found.upper > norms.features.upper) {
            norms.features.upper = found.upper;
            norms.features.proof = found.proof;
        }
    }
    if (problem.truth()) norms.weights = problem.truth()->rowwise().norm().maxCoeff();
    return norms;
}

}  // namespace alidade
