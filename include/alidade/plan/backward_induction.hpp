#pragma once

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// An optimal policy of a known model and the optimal values that prove it.
struct OptimalPlan {
    Policy policy;     ///< deterministic; the first of equally good actions
    Matrix values;     ///< H+1 rows of S: V*_h(s), the last row zero
    double value = 0;  ///< expectation of V*_0 over the start
};

/// Dynamic programming backwards from the horizon; exact up to rounding.
OptimalPlan backward_induction(const TransitionModel& model, const Reward& reward, Threads threads = {});

}  // namespace alidade
