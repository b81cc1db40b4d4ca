#pragma once

#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// For each uncertain step and each entry bounds of every possible probability, rounded outward, within [0,
/// 1], and containing the learned model's: of theta . phi over all members of a confidence set, widened by
/// the misspecification, or of rows over their balls. With `exact` by the solver where there is one,
/// otherwise by closed forms. The result does not depend on `threads`.
std::vector<Interval> transition_intervals(const LearnedModel& learned, bool exact, Threads threads);

}  // namespace alidade::detail
