#pragma once

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"

namespace alidade::detail {

/// G of [docs/algorithms/two-chains.md, (1)] at the start: by how much the actions of a plan fall short of
/// the best in the model, added up along the way that some member leads; 0 of plans that are greedy in every
/// state, never less than what the plan is short of optimal in the model.
double largest_model_gaps(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                          Threads threads = {});

}  // namespace alidade::detail
