#pragma once

#include <functional>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_linear.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// How much the exploration reward of Algorithm 3 is of the bonus.
enum class ExplorationReward {
    bonus,            ///< R = u, as the paper has it
    bonus_over_steps  ///< R = u/H (Wang, Du, Yang, Salakhutdinov 2020)
};

/// What is regressed on and clipped in one pass of Algorithm 3.
struct LinearPassOptions {
    ExplorationReward reward = ExplorationReward::bonus;
    ValueRanges ranges;  ///< of values and clips
    /// Times the norm of the features it is the bonus for values in [0,1]; zero: the learned radii.
    double radius = 0;
};

/// Q_h of every pair before it is clipped, from V_{h+1}: phi . w^(V_{h+1}) + R + n u [paper, Alg. 3 line 9].
Vector linear_backup(const LearnedLinear& learned, const LinearPassOptions& options, Step h,
                     const Vector& next);

/// V_0 at the start of Algorithm 3: V_h = max_a clip(Q_h, 0, n). On the event, with learned radii, it is at
/// least the error of any value in the model, or that divided by H if the reward is u/H
/// [docs/algorithms/lsvi.md, Theorem 3].
double linear_exploration_value(const LearnedLinear& learned, const LinearPassOptions& options);

}  // namespace alidade::detail
