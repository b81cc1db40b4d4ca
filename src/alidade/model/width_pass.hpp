#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_operator.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// TransitionOperator::widths of this machine's processor, by vectors no wider than that: the same bits.
void pass_over_widths(const FeatureMap& features, const WidthStep& step, Threads threads,
                      LaneWidth width = widest_lanes());

}  // namespace alidade::detail
