#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::support {

inline Shape with_one_more(const Shape& shape) {
    return {shape.states + 1, shape.actions, shape.horizon + 1};
}

/// Base model i with rows of the start law for s_0.
inline BaseKernel with_start(BaseKernel kernel, const StartLaw& start, Index actions) {
    for (Action a = 0; a < actions; ++a) {
        for (const auto& [state, probability] : start.atoms()) {
            kernel.targets.push_back(state);
            kernel.probabilities.push_back(probability);
        }
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
    }
    kernel.rows += actions;
    kernel.columns += 1;
    return kernel;
}

/// General features with those of s_0: nu(s') phi_1 of any pair, since theta . phi_1 = 1 for all weights.
inline FeatureMap general_with_start(const FeatureMap& map, const StartLaw& start) {
    SignedFeatures data{.states = map.states() + 1,
                        .actions = map.actions(),
                        .features = map.features(),
                        .targets = {map.targets().begin(), map.targets().end()},
                        .values = {map.values().begin(), map.values().end()},
                        .norm_bound = map.norm_bound()};
    for (Index pair = 0; pair <= map.pairs(); ++pair) data.offsets.push_back(map.first_entry(pair));
    const Vector one = map.phi_value(0, std::vector<double>(static_cast<std::size_t>(map.states()), 1.0));
    for (Action a = 0; a < map.actions(); ++a) {
        for (const auto& [state, probability] : start.atoms()) {
            data.targets.push_back(state);
            for (const double feature : one) data.values.push_back(probability * feature);
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return FeatureMap::from_features(data);
}

inline SharedFeatures features_with_start(const FeatureMap& map, const StartLaw& start) {
    if (map.kind() == FeatureKind::general)
        return std::make_shared<const FeatureMap>(general_with_start(map, start));
    std::vector<BaseKernel> kernels;
    for (Index i = 0; i < map.features(); ++i)
        kernels.push_back(with_start(map.base_kernel(i), start, map.actions()));
    return std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(map.states() + 1, map.actions(), kernels));
}

std::string free_name(const std::vector<std::string>& names) {
    const std::set<std::string> taken(names.begin(), names.end());
    std::string name = "before the start";
    while (taken.contains(name)) name += "'";
    return name;
}

/// A reward for with_initial_step(problem): none at step 0 or in s_0, otherwise that of the step before.
inline Reward with_initial_step(const Reward& reward) {
    const Shape& shape = reward.shape();
    const Shape now = with_one_more(shape);
    std::vector<double> values(static_cast<std::size_t>(now.horizon * now.pairs()), 0.0);
    for (Step h = 0; h < shape.horizon; ++h) {
        const auto old = reward.at(h);
        std::copy(old.begin(), old.end(), values.begin() + (h + 1) * now.pairs());
    }
    return Reward(now, std::move(values));
}

/// A policy for with_initial_step(problem): the given one, a step later; action 0 in s_0 and at step 0.
inline Policy with_initial_step(const Policy& policy) {
    const Shape& shape = policy.shape();
    const Shape now = with_one_more(shape);
    if (policy.is_deterministic()) {
        std::vector<std::int32_t> actions(static_cast<std::size_t>(now.horizon * now.states), 0);
        for (Step h = 0; h < shape.horizon; ++h)
            std::copy_n(policy.actions().begin() + h * shape.states, shape.states,
                        actions.begin() + (h + 1) * now.states);
        return Policy::deterministic(now, std::move(actions));
    }
    std::vector<double> law(static_cast<std::size_t>(now.horizon * now.pairs()), 0.0);
    for (Index row = 0; row < now.horizon * now.states; ++row)
        law[static_cast<std::size_t>(row * now.actions)] = 1;
    for (Step h = 0; h < shape.horizon; ++h)
        std::copy_n(policy.probabilities().begin() + h * shape.pairs(), shape.pairs(),
                    law.begin() + (h + 1) * now.pairs());
    return Policy::stochastic(now, std::move(law));
}

/// The problem with its start law as a transition, as the paper has it [theory §1.1]: one more state s_0, the
/// last one, which every episode starts in and never returns to; one more step, at which every action leads
/// from s_0 to the start law, under every base model alike, so that nothing is to be learned there; and no
/// reward at that step. The other states keep their numbers, and step h becomes step h+1. Values from s_0 are
/// those of the given problem, expected over its start law. True weights of the
/// new step 0 are arbitrary.
inline Problem with_initial_step(const Problem& problem) {
    ProblemDescription parts = problem.description();
    parts.features = features_with_start(problem.features(), problem.start());
    parts.horizon += 1;
    parts.start = StartLaw(problem.shape().states);
    if (parts.truth && !parts.homogeneous) {
        Matrix truth(parts.horizon, parts.truth->cols());
        // At s_0 all weights give the same law. One base model gives it without rounding; for general
        // features a true row is known to be well defined.
        truth.row(0) = problem.features().kind() == FeatureKind::general
                           ? Matrix(parts.truth->row(0))
                           : Matrix(Matrix::Identity(1, truth.cols()));
        truth.bottomRows(parts.horizon - 1) = *parts.truth;
        parts.truth = std::move(truth);
    }
    if (!parts.state_names.empty()) parts.state_names.push_back(free_name(parts.state_names));
    for (NamedReward& named : parts.rewards) named.reward = with_initial_step(named.reward);
    return Problem(std::move(parts));
}

}  // namespace alidade::support
