#pragma once

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"
#include "divergence.hpp"
#include "mixture_recursions.hpp"

namespace alidade::detail {

/// min(sqrt(k/2), sqrt(1 - exp(-k))): two laws whose KL divergence is k are no farther apart in total
/// variation (Pinsker; Bretagnolle and Huber). One if k is infinite.
double variation_of_divergence(double divergence);

/// K_h(s) = max_a (k_h(s,a) + P~ K_{h+1}), at least the KL divergence of the learned law of what comes after
/// (h, s) from the true one, under any policy: H rows of S, the last zero; may be infinite. The actions are
/// the maximisers. Trajectories end where nothing can be earned any more.
ErrorRecursion divergence_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                    const RewardCaps& caps, Threads threads = {});
ErrorRecursion divergence_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                    Threads threads = {});

/// Its steps. What it is given must outlive it.
DescribeStep divergence_step(const DivergenceTable& divergences, const RewardCaps& caps);

/// What the divergences make of errors: (H-1-h) * variation_of_divergence at every state, in place; and what
/// the truth may be off its mixture by, where it may be. Of a class of rewards, the most that can be earned
/// after the step in place of H-1-h.
void errors_of_divergences(const LearnedModel& learned, const RewardCaps& caps, ErrorRecursion& recursion);

/// Errors (H-1-h) * variation_of_divergence(K_h(s)) [likelihood §4 B]: what comes after (h, s) earns between
/// 0 and H-1-h. `divergences` are those of KL.
ErrorRecursion trajectory_kl_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                       const RewardFreeOptions& options = {});
ErrorRecursion trajectory_kl_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                       const RewardCaps& caps, Threads threads);

/// The steps of the coupling recursion, cut at the errors of another.
DescribeStep hybrid_step(const DeviationTable& deviations, const ErrorRecursion& trajectory,
                         const RewardCaps& caps);

/// The coupling recursion in which every value is cut at the bound `trajectory` of trajectory_kl_recursion:
/// never above either [likelihood §4].
ErrorRecursion hybrid_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                const ErrorRecursion& trajectory, const RewardFreeOptions& options = {});
ErrorRecursion hybrid_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                const ErrorRecursion& trajectory, const RewardCaps& caps, Threads threads);

}  // namespace alidade::detail
