#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

/// Random models for tests: everything is a function of the stream (or seed) that is passed.
namespace alidade::support {

/// The stream of a test's seed; `part` tells apart the draws of one test.
inline Stream test_stream(std::uint64_t seed, std::uint64_t part = 0) {
    return Stream(seed, Purpose::test, part);
}

/// Sizes of a random model.
struct RandomSizes {
    Shape shape{5, 3, 4};      ///< S, A, H
    Index features = 3;        ///< d
    Index successors = 3;      ///< m <= S, of every pair
    bool start_law = false;    ///< start from a distribution instead of state 0
    bool homogeneous = false;  ///< one row of weights for all steps
    double concentration = 1;  ///< of the Dirichlet laws of the base rows
};

/// `count` distinct states, ascending.
inline std::vector<std::int64_t> random_states(Stream& random, Index states, Index count) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(states));
    std::iota(all.begin(), all.end(), 0);
    for (Index i = 0; i < count; ++i) {
        const Index j = i + sample_index(random, states - i);
        std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(j)]);
    }
    all.resize(static_cast<std::size_t>(count));
    std::sort(all.begin(), all.end());
    return all;
}

/// d base kernels as in a garnet: a pair has the same random successors in each, with
/// Dirichlet laws.
inline std::vector<BaseKernel> random_kernels(Stream& random, const RandomSizes& sizes) {
    std::vector<BaseKernel> kernels(static_cast<std::size_t>(sizes.features));
    for (BaseKernel& kernel : kernels) {
        kernel.rows = sizes.shape.pairs();
        kernel.columns = sizes.shape.states;
        kernel.offsets.push_back(0);
    }
    for (Index pair = 0; pair < sizes.shape.pairs(); ++pair) {
        const auto targets = random_states(random, sizes.shape.states, sizes.successors);
        for (BaseKernel& kernel : kernels) {
            const auto law = sample_dirichlet(random, sizes.successors, sizes.concentration);
            kernel.targets.insert(kernel.targets.end(), targets.begin(), targets.end());
            kernel.probabilities.insert(kernel.probabilities.end(), law.begin(), law.end());
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
    }
    return kernels;
}

/// The feature map of random_kernels.
inline SharedFeatures random_features(Stream& random, const RandomSizes& sizes) {
    const auto kernels = random_kernels(random, sizes);
    return std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(sizes.shape.states, sizes.shape.actions, kernels));
}

/// `rows` convex weights of d numbers, uniform on the simplex.
inline Matrix random_weights(Stream& random, Index rows, Index features) {
    Matrix weights(rows, features);
    for (Index row = 0; row < rows; ++row) {
        const auto law = sample_dirichlet(random, features, 1.0);
        for (Index i = 0; i < features; ++i) weights(row, i) = law[static_cast<std::size_t>(i)];
    }
    return weights;
}

/// A distribution over at most three states.
inline StartLaw random_start(Stream& random, Index states) {
    const Index count = std::min<Index>(states, 3);
    const auto support = random_states(random, states, count);
    const auto law = sample_dirichlet(random, count, 1.0);
    std::vector<std::pair<State, double>> atoms;
    for (std::size_t i = 0; i < support.size(); ++i) atoms.emplace_back(support[i], law[i]);
    return StartLaw(std::move(atoms));
}

/// Random weights on given features.
inline MixtureModel random_model(Stream& random, SharedFeatures features, const RandomSizes& sizes) {
    const Index rows = sizes.homogeneous ? 1 : sizes.shape.horizon;
    Matrix weights = random_weights(random, rows, features->features());
    StartLaw start = sizes.start_law ? random_start(random, sizes.shape.states) : StartLaw(State{0});
    return MixtureModel(std::move(features), sizes.shape.horizon, std::move(start), std::move(weights));
}

/// Random features and weights.
inline MixtureModel random_model(Stream& random, const RandomSizes& sizes) {
    SharedFeatures features = random_features(random, sizes);
    return random_model(random, std::move(features), sizes);
}

/// The random model of a seed.
inline MixtureModel random_model(std::uint64_t seed, const RandomSizes& sizes) {
    Stream random = test_stream(seed);
    return random_model(random, sizes);
}

/// Independent uniform rewards.
inline Reward random_reward(Stream& random, const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()));
    for (double& value : values) value = sample_uniform(random);
    return Reward(shape, std::move(values));
}

/// Rewards that are 0 or 1, mostly 0: many ties, and values at the ends of their range.
inline Reward random_sparse_reward(Stream& random, const Shape& shape, double density = 0.1) {
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()));
    for (double& value : values) value = sample_uniform(random) < density ? 1.0 : 0.0;
    return Reward(shape, std::move(values));
}

/// Independent uniform actions.
inline Policy random_deterministic_policy(Stream& random, const Shape& shape) {
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon * shape.states));
    for (std::int32_t& action : actions) {
        action = static_cast<std::int32_t>(sample_index(random, shape.actions));
    }
    return Policy::deterministic(shape, std::move(actions));
}

/// Independent laws over actions, uniform on the simplex.
inline Policy random_stochastic_policy(Stream& random, const Shape& shape) {
    std::vector<double> probabilities;
    for (Index i = 0; i < shape.horizon * shape.states; ++i) {
        const auto law = sample_dirichlet(random, shape.actions, 1.0);
        probabilities.insert(probabilities.end(), law.begin(), law.end());
    }
    return Policy::stochastic(shape, std::move(probabilities));
}

}  // namespace alidade::support
