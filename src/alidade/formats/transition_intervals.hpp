#pragma once

#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// For each confidence set and each entry of the feature map, bounds of theta . phi over all members, rounded
/// outward, widened by the misspecification, within [0, 1], and containing the learned model's probability.
/// With `exact` by the solver, otherwise by closed forms. The result does not depend on `threads`.
std::vector<Interval> transition_intervals(const LearnedMixture& learned, bool exact, Threads threads);

}  // namespace alidade::detail
