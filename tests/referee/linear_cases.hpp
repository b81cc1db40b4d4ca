#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "alidade/problem/problem.hpp"
#include "small_cases.hpp"

/// Linear MDPs for the referee: variants that no family makes, and one for a hand calculation.
namespace alidade::referee_cases {

inline Problem with_start(const Problem& problem, std::vector<std::pair<State, double>> law) {
    ProblemDescription parts = problem.description();
    parts.start = StartLaw(std::move(law));
    return Problem(std::move(parts));
}

/// The measures of the first step at all of them, and one set.
inline Problem made_homogeneous(const Problem& problem) {
    ProblemDescription parts = problem.description();
    parts.homogeneous = true;
    parts.measures.resize(1);
    return Problem(std::move(parts));
}

/// Features half as long, for which the measures are twice as large: the same system.
inline Problem with_half_features(const Problem& problem) {
    ProblemDescription parts = problem.description();
    const PairFeatures& features = problem.pair_features();
    std::vector<double> values(features.values().begin(), features.values().end());
    for (double& value : values) value /= 2;
    parts.linear =
        std::make_shared<const PairFeatures>(static_cast<const SuccessorMap&>(features), features.features(),
                                             std::move(values), 2 * features.norm_bound());
    for (Matrix& measures : parts.measures) measures *= 2;
    return Problem(std::move(parts));
}

/// 0 -> {1, 2}, then 3 for good: pooled steps have three states that follow, the last of them one. One
/// feature for each state.
inline Problem funnel() {
    ProblemDescription parts;
    parts.name = "funnel";
    parts.horizon = 4;
    parts.homogeneous = true;
    std::vector<double> values(16, 0.0);
    for (std::size_t s = 0; s < 4; ++s) values[5 * s] = 1;
    parts.linear = std::make_shared<const PairFeatures>(SuccessorMap(4, 1, {0, 2, 3, 4, 5}, {1, 2, 3, 3, 3}),
                                                        4, std::move(values), 2.0);
    Matrix measures = Matrix::Zero(4, 4);
    measures.row(0) << 0, 0.6, 0.4, 0;
    for (Index s = 1; s < 4; ++s) measures(s, 3) = 1;
    parts.measures = {measures};
    return Problem(std::move(parts));
}

/// Two states, one action, one feature for each pair: from state 0 to 0 or 1, from state 1 to 1 only. B is
/// sqrt 2, so lambda = 1.
inline referee::Setting two_pairs(Index horizon) {
    referee::Setting setting;
    setting.states = 2;
    setting.actions = 1;
    setting.horizon = horizon;
    setting.features = 2;
    setting.base_models = false;
    setting.pair_features = true;
    setting.norm_bound = 1.41421356237309504880;
    setting.offsets = {0, 2, 3};
    setting.targets = {0, 1, 1};
    setting.phi = {1, 0, 0, 1};
    setting.start = {{0, 1.0}};
    return setting;
}

/// These counts, all of them evidence, and rows that are shares of what was seen.
inline referee::Case two_pairs_case(Index horizon, std::vector<std::int64_t> counts, std::vector<double> laws,
                                    std::int64_t episodes) {
    referee::Case given;
    given.setting = two_pairs(horizon);
    given.delta = delta;
    given.counted = {std::move(counts), episodes};
    given.evidence.likelihood = given.counted;
    given.episodes = episodes;
    given.laws = std::move(laws);
    return given;
}

}  // namespace alidade::referee_cases
