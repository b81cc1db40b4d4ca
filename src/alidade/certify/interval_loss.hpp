#pragma once

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/types.hpp"
#include "near_widening.hpp"

namespace alidade::detail {

/// A bound of the loss V* - V^pi from intervals alone, whatever is uncertain: `gap` of AdvantageBounds where
/// there are no weights to share. With D_h = max_a (A_h(s,a) + P D_{h+1}), A the policy's advantages,
///   A_h(s,a) = (1 - pi(a)) Q(s,a) - sum_{b != a} pi(b) Q(s,b),
/// of which each Q is in an interval of its own: what both sides have of the same row has cancelled. Cut at
/// H-h and U - L; exactly 0 where the policy is proved optimal. `bounds` are of the same reward and policy.
double interval_loss(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                     const ValueBounds& bounds, Threads threads = {});

/// The same under all rewards near it at once, and for how many times `unit` the policy is proved optimal;
/// -1: not for the reward itself.
struct NearLoss {
    double loss = 0, margin = 0;
};
NearLoss interval_loss(const LearnedModel& learned, const DeviationTable& deviations, const Reward& reward,
                       const Policy& policy, const ValueBounds& bounds, const NearRewards& near,
                       Threads threads = {});

}  // namespace alidade::detail
