#pragma once

#include "alidade/plan/planner.hpp"

namespace alidade::detail {

/// The linear program over occupancies: maximise the reward of x >= 0, where x_0 sums to the start law over
/// the actions and x_{h+1} to what x_h sends on. Solved by the simplex method (COIN-OR Clp). The action at a
/// visited state is the one of the largest occupancy, elsewhere the best against the dual values.
///
/// Its claims do not rest on the solver having converged: the value is the policy's, evaluated, and the
/// accuracy is the gap to the dual values after they are lifted until they are feasible, so weak duality
/// proves it.
class LinearProgramPlanner final : public Planner {
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;
};

}  // namespace alidade::detail
