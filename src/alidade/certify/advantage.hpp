#pragma once

#include <limits>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/types.hpp"
#include "near_widening.hpp"

namespace alidade::detail {

/// What the recursions of the loss give for one policy and reward.
struct AdvantageBounds {
    double advantage = 0;  ///< V* - V^pi is at most this; exactly 0 where the policy is proved optimal
    double gap = 0;        ///< the same by cheaper bounds of the advantages; never below `advantage`
    Interval value;        ///< contains V^pi: the members are shared by all states and actions of a step
    /// Of rewards near it: for how many times `unit` the policy is proved optimal; -1: not for the reward.
    double margin = std::numeric_limits<double>::infinity();
};

/// Bounds of the loss D_h = V*_h - V^pi_h = max_a (A_h(s,a) + P D_{h+1}), A the policy's advantages under the
/// truth [likelihood §6]. With A_up >= A,
///   D_h = max_a (A_up(s,a) + max_{theta in C_h} theta.phi_{D_{h+1}}), cut at H-h and at U_h - L_h.
///  - `gap` [oracle §E]: A_up from the intervals of the policy's values, with one member of C_h for both of
///    the actions that are compared;
///  - `advantage`: A_up also from the exact expansion of value errors under the model,
///      Q - Q~ = sum_k (theta_k - theta~_k).M_{h->k} + Rem,  M_{h->k}(s,a) = E~[phi_{V~_{k+1}}(s_k, a_k)],
///    with one member of C_k for all states and actions, so that errors the two actions share cancel.
/// Both allow for the misspecification. An advantage that is not exactly zero by definition gets a rounding
/// slack of 1e-9, so a bound of exactly 0 is a proof. `bounds` are those of the same reward and policy.
/// With `near` losses are bounded under all of those rewards at once; `value` stays that of the one.
/// `sharpened` is what SharedLoss::bound takes.
AdvantageBounds advantage_bounds(const LearnedMixture& learned, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, const ValueBounds& bounds,
                                 Threads threads = {}, const NearRewards* near = nullptr, int sharpened = 1);

}  // namespace alidade::detail
