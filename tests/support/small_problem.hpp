#pragma once

#include <memory>

#include "alidade/problem/problem.hpp"

namespace alidade::testing {

/// Two states, two actions, two base models, three steps; every optional part is there, and the names need
/// escapes.
inline ProblemDescription small_description() {
    const BaseKernel steady{
        "steady \"demand\"", 4, 2, {0, 2, 3, 4, 6}, {0, 1, 0, 1, 0, 1}, {0.25, 0.75, 1, 1, 1.0 / 3, 2.0 / 3}};
    const BaseKernel other{"steady: demand", 4, 2, {0, 1, 2, 3, 4}, {0, 1, 1, 0}, {1, 1, 1, 1}};
    const std::vector<BaseKernel> kernels{steady, other};
    const Shape shape{2, 2, 3};
    ProblemDescription parts;
    parts.name = "small\n\\ gr\xC3\xBCn \x7F";
    parts.features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, kernels));
    parts.horizon = 3;
    parts.start = StartLaw({{0, 1.0 / 3}, {1, 2.0 / 3}});
    Matrix truth(3, 2);
    truth << 0.1, 0.9, 1.0 / 3, 1 - 1.0 / 3, 0.5, 0.5;
    parts.truth = truth;
    parts.state_names = {"empty", "full"};
    parts.action_names = {"wait", "order, now"};
    parts.rewards = {{"be full", "one for each full day", Reward(shape, {0, 0, 1, 1})},
                     {"be-full", "", Reward(shape, std::vector<double>(12, 0.1))}};
    parts.target = {1e-5, 0.1, 1'000'000};
    return parts;
}

/// Signed features of two states and one action; weights (1, w) with |w| <= 1 give distributions.
inline ProblemDescription signed_description() {
    const SignedFeatures data{.states = 2,
                              .actions = 1,
                              .features = 2,
                              .offsets = {0, 2, 4},
                              .targets = {0, 1, 0, 1},
                              .values = {0.5, 0.25, 0.5, -0.25, 0.3, -0.1, 0.7, 0.1},
                              .norm_bound = 1.25};
    ProblemDescription parts;
    parts.name = "signed";
    parts.features = std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
    parts.horizon = 4;
    parts.start = StartLaw(1);
    parts.homogeneous = true;
    Matrix truth(1, 2);
    truth << 1, 0.7;
    parts.truth = truth;
    return parts;
}

/// A linear MDP of three states, two actions and two features, of which not every state follows every pair.
inline ProblemDescription linear_description() {
    const SuccessorMap map(3, 2, {0, 3, 5, 8, 10, 13, 15}, {0, 1, 2, 0, 1, 0, 1, 2, 0, 1, 0, 1, 2, 0, 1});
    ProblemDescription parts;
    parts.name = "linear";
    parts.linear = std::make_shared<const PairFeatures>(
        map, 2, std::vector<double>{0.25, 0.75, 1, 0, 0.5, 0.5, 1, 0, 0, 1, 1, 0}, 1.5);
    parts.horizon = 3;
    parts.start = StartLaw({{0, 0.5}, {2, 0.5}});
    Matrix measures(2, 3);
    measures << 0.3, 0.7, 0, 0.2, 0.2, 0.6;
    parts.measures = {measures, measures.rowwise().reverse(), measures};
    parts.measures[1] << 0.5, 0.5, 0, 0, 1.0 / 3, 2.0 / 3;
    return parts;
}

/// Whether two problems agree in everything, bit for bit.
inline bool same(const Problem& a, const Problem& b) {
    const ProblemDescription &x = a.description(), &y = b.description();
    const bool truth = x.truth.has_value() == y.truth.has_value() &&
                       (!x.truth || (x.truth->rows() == y.truth->rows() && *x.truth == *y.truth));
    bool rewards = x.rewards.size() == y.rewards.size();
    for (std::size_t i = 0; rewards && i < x.rewards.size(); ++i)
        rewards = x.rewards[i].name == y.rewards[i].name && x.rewards[i].meaning == y.rewards[i].meaning &&
                  x.rewards[i].reward == y.rewards[i].reward;
    const bool features = a.is_linear() ? b.is_linear() && *x.linear == *y.linear && x.measures == y.measures
                                        : !b.is_linear() && *x.features == *y.features;
    return x.name == y.name && features && x.horizon == y.horizon && x.start == y.start &&
           x.homogeneous == y.homogeneous && x.misspecification == y.misspecification && truth && rewards &&
           x.foreign == y.foreign && x.state_names == y.state_names && x.action_names == y.action_names &&
           x.target.epsilon == y.target.epsilon && x.target.delta == y.target.delta &&
           x.target.episodes == y.target.episodes;
}

}  // namespace alidade::testing
