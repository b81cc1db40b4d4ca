#pragma once

#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What a policy earns in a known model.
struct Evaluation {
    Matrix values;     ///< H+1 rows of S: V^pi_h(s), the last row zero
    double value = 0;  ///< expectation of V^pi_0 over the start
};

/// Evaluates any policy exactly.
Evaluation evaluate(const TransitionModel& model, const Policy& policy, const Reward& reward,
                    Threads threads = {});

/// Occupancy measures: row h, column s*A+a is the probability of (s, a) at step h. Rows sum to one.
Matrix occupancy(const TransitionModel& model, const Policy& policy, Threads threads = {});

}  // namespace alidade
