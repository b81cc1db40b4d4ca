#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What is certain about one policy under one reward, on the real system, on the event that every
/// confidence set contains its true weights (probability 1 - failure_probability). The policy may come
/// from anywhere, and the reward may have been chosen after seeing everything.
struct RewardCertificate {
    Interval value;            ///< contains the policy's true value V^pi
    double optimal_upper = 0;  ///< V* is at most this
    double loss_bound = 0;     ///< V* - V^pi is at most this; the least of `methods`, clipped to [0, H]
    bool vacuous = false;      ///< the loss bound is H or more
    std::vector<std::pair<std::string, double>> methods;  ///< loss bounds by the name of their argument
    double failure_probability = 0;                       ///< delta
};

/// Certifies by the recursions of [theory §3g]:
///   U_h = max_a min(H-h, r + max_{theta in C_h} theta.phi_U),  L_h = max(0, r + min theta.phi_L) along
/// the policy, and likewise the upper value of the policy. `plain` is U - L; `advantage` and `gap` bound the
/// loss itself and can prove it to be exactly 0, see docs/planning.md. `value` is what the interval of
/// these recursions and that of `advantage` have in common. Of rows there is no `advantage`: they share
/// nothing, and the interval of the recursions is that of the extreme truths.
RewardCertificate certify_reward(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                                 Threads threads = {});

/// The same, and the reward-free certificate plus the policy's shortfall in the model, which holds on the
/// same event, as the further method `reward-free`. Throws InvalidArgument if the knowledge has no
/// certificate, or one that fails more often than its sets.
RewardCertificate certify_reward(const Knowledge& knowledge, const Reward& reward, const Policy& policy,
                                 Threads threads = {});

/// The same for many rewards: what `advantage` needs to know of the learned model's deviations is given, not
/// computed each time.
RewardCertificate certify_reward(const LearnedModel& learned, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, Threads threads = {});
RewardCertificate certify_reward(const Knowledge& knowledge, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, Threads threads = {});

/// One policy to certify for one reward.
struct RewardQuestion {
    Reward reward;
    Policy policy;
};

/// The certificates of all questions, in their order, each the same as `certify_reward` gives for it alone.
/// All of them hold at once on the same event, with no union over the questions. The result does not depend
/// on `threads`, which share the questions, or the states of the only one.
std::vector<RewardCertificate> certify_rewards(const Knowledge& knowledge,
                                               std::span<const RewardQuestion> questions,
                                               Threads threads = {});
/// The same with the deviations given, for a batch that comes in pieces.
std::vector<RewardCertificate> certify_rewards(const Knowledge& knowledge, const DeviationTable& deviations,
                                               std::span<const RewardQuestion> questions,
                                               Threads threads = {});

/// Bounds of true values that hold for all members of the confidence sets at once [theory §3g]:
///   U_h = max_a min(H-h, r + max_{theta in C_h} theta.phi_U),  L_h = max(0, r + min theta.phi_L) along
/// the policy, and likewise its upper value. Each has H+1 rows of S, the last zero; no slack is added.
struct ValueBounds {
    Matrix policy_lower;   ///< L <= V^pi
    Matrix policy_upper;   ///< V^pi is at most this
    Matrix optimal_upper;  ///< V* <= U
};

ValueBounds value_bounds(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                         Threads threads = {});

}  // namespace alidade
