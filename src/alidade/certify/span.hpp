#pragma once

#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"
#include "mixture_recursions.hpp"

namespace alidade::detail {

/// An upper bound of the largest total variation between two rows of the learned model at step h: how much of
/// a difference of values survives the step. Exact for up to 500 pairs; for more, one minus the mass that
/// all rows share.
double contraction(const LearnedModel& learned, Step h);

/// sp_h = min(H-h, 1 + contraction(h) sp_{h+1}) for h = 0..H, the last zero: no value of any policy under any
/// reward in [0,1] varies more over the states, in the learned model [theory §3l].
std::vector<double> value_spans(const LearnedModel& learned, Threads threads = {});
/// The same of a class of rewards: the largest of a step in place of 1, and of what can be earned for H-h.
std::vector<double> value_spans(const LearnedModel& learned, const RewardCaps& caps, Threads threads = {});

/// E_h = max_a min(H-1-h, sp_{h+1} tau + max over the confidence set of the expectation of E_{h+1}). The span
/// is one of values in the learned model, so what comes after must be averaged under the truth, whence the
/// maximum over the set. Under the learned model (`model_recursion`) the error holds values of the true
/// system, which may vary more: there a span would be false [theory §3f, §3l].
ErrorRecursion span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              Threads threads = {});
ErrorRecursion span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              const RewardCaps& caps, Threads threads = {});

/// Its steps, with those spans. What it is given must outlive it.
DescribeStep span_step(const DeviationTable& deviations, const RewardCaps& caps, std::vector<double> spans);

}  // namespace alidade::detail
