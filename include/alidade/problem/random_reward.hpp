#pragma once

#include <cstdint>

#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Kinds of random rewards, for audits and benchmarks. Each (step, state, action) is drawn on its own.
enum class RandomRewardKind {
    binary,  ///< 0 or 1, equally likely
    dense,   ///< uniform on [0, 1)
    sparse,  ///< 1 with a small probability, otherwise 0
};

/// Share of ones in a sparse reward unless another is asked for.
inline constexpr double sparse_density = 0.05;

/// A random reward. `density` in [0, 1] matters for `sparse` only.
Reward random_reward(const Shape& shape, RandomRewardKind kind, Stream& random,
                     double density = sparse_density);

/// 1 for every action in one state, at all steps.
Reward single_state_reward(const Shape& shape, State state);
/// 1 for every action in one state at the last step: to be there when the episode ends.
Reward reach_reward(const Shape& shape, State state);

}  // namespace alidade
