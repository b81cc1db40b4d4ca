#pragma once

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "optimal_spans.hpp"

namespace alidade::detail {

/// F_h of [docs/algorithms/two-chains.md, Theorem 3]: a bound of the errors of optimal values and of greedy
/// plans' values, cut at `cap`, any bound of all policies' errors.
ErrorRecursion optimal_span_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                      const OptimalSpans& spans, const ErrorRecursion& cap,
                                      Threads threads = {});

}  // namespace alidade::detail
