#pragma once

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The policy whose action at (h, s) is the first of an exact plan for the steps h .. h+depth-1 that then
/// earns beyond(h+depth, s'). `beyond` has H+1 rows of S values; its last row must be zero. Null: nothing is
/// earned beyond. Requires depth >= 1.
Policy plan_to_depth(const TransitionModel& model, const Reward& reward, Index depth, const Matrix* beyond);

}  // namespace alidade::detail
