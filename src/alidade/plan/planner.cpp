#include "alidade/plan/planner.hpp"

#include "alidade/plan/backup.hpp"

namespace alidade {

Plan Planner::plan(const TransitionModel& model, const Reward& reward) const {
    expect_same_shape(model.shape(), reward.shape(), "reward");
    Plan result = do_plan(model, reward);
    expect_same_shape(model.shape(), result.policy.shape(), "planner's policy");
    return result;
}

}  // namespace alidade
