#include "alidade/plan/planner.hpp"

#include "backup.hpp"

namespace alidade {

Plan Planner::plan(const TransitionModel& model, const Reward& reward) const {
    detail::expect_same_shape(model.shape(), reward.shape(), "reward");
    Plan result = do_plan(model, reward);
    detail::expect_same_shape(model.shape(), result.policy.shape(), "planner's policy");
    return result;
}

}  // namespace alidade
