#pragma once

#include <functional>
#include <span>
#include <vector>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/transition_operator.hpp"
#include "alidade/types.hpp"
#include "reward_caps.hpp"

namespace alidade::detail {

/// Says what one step of a recursion is; `next`, `now` and `actions` are filled in by whoever runs it.
using DescribeStep = std::function<void(Step h, ErrorStep& step)>;

/// The steps of `model` and `coupling`. What they are given must outlive them.
DescribeStep model_step(const DeviationTable& deviations, const RewardCaps& caps);
DescribeStep coupling_step(const DeviationTable& deviations, const RewardCaps& caps);

/// Whether recursions of a learned model can be run by an operator: base models, and one estimate a step.
bool by_operator(const LearnedModel& learned);

/// Runs several recursions of value errors backwards, all of them in one pass over the features a step.
/// Requires `by_operator`.
std::vector<ErrorRecursion> run_together(const LearnedMixture& learned, const TransitionOperator& passes,
                                         std::span<const DescribeStep> recursions);

/// Their values at the start alone, without memory for the others.
std::vector<double> start_values(const LearnedMixture& learned, const TransitionOperator& passes,
                                 std::span<const DescribeStep> recursions);
/// One recursion, with an operator of its own.
ErrorRecursion run_by_operator(const LearnedModel& learned, Threads threads, const DescribeStep& recursion);

/// `model_recursion` and `coupling_recursion` of a class of rewards.
ErrorRecursion model_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardCaps& caps, Threads threads);
ErrorRecursion coupling_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                  const RewardCaps& caps, Threads threads);

}  // namespace alidade::detail
