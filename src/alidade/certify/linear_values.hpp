#pragma once

#include <span>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_linear.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// How much the exploration reward of Algorithm 3 is of the bonus.
enum class ExplorationReward {
    bonus,            ///< R = u, as the paper has it
    bonus_over_steps  ///< R = u/H (Wang, Du, Yang, Salakhutdinov 2020)
};

/// One pass of Algorithm 3.
struct LinearPass {
    ExplorationReward reward = ExplorationReward::bonus;
    ValueRanges ranges;  ///< of values and clips

    /// What is added to a pair's prediction at step h is its bonus times this: reward and optimism.
    double scale(Step h) const noexcept {
        const double share =
            reward == ExplorationReward::bonus ? 1.0 : 1 / static_cast<double>(ranges.horizon);
        return (1 + share) * ranges.at(h);
    }
};

/// radius times |phi| in the metric of Lambda^-1, of every pair: the bonus for values in [0,1].
Vector linear_bonuses(const PairFeatures& features, const LinearEstimate& estimate, double radius);

/// Q_h of every pair before it is clipped, from V_{h+1}: phi . w^(V_{h+1}) + R + n u [paper, Alg. 3 line 9].
Vector linear_backup(const PairFeatures& features, const LinearEstimate& estimate, double scale,
                     const Vector& bonuses, const Vector& next);

/// V_0 at the start of Algorithm 3: V_h = max_a clip(Q_h, 0, n). On the event it is at least the error of any
/// value in the model, or that divided by H if the reward is u/H [docs/algorithms/lsvi.md, Theorem 3]; not so
/// with a radius of one's own, which takes the place of the learned ones unless it is zero.
double linear_exploration_value(const LearnedLinear& learned, const LinearPass& pass, double radius = 0);

}  // namespace alidade::detail
