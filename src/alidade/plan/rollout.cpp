#include "rollout.hpp"

#include <limits>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/plan/evaluation.hpp"
#include "depth_limited.hpp"

namespace alidade::detail {

RolloutPlanner::RolloutPlanner(Index depth, std::optional<Policy> base)
    : depth_(depth), base_(std::move(base)) {
    expects(depth >= 1, "rollout of {} steps; it must plan at least 1", depth);
}

Plan RolloutPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    const Evaluation base = evaluate(model, base_ ? *base_ : Policy::uniform(model.shape()), reward);
    Policy policy = plan_to_depth(model, reward, depth_, &base.values);
    const double claimed = evaluate(model, policy, reward).value;
    return Plan{std::move(policy), claimed, std::numeric_limits<double>::infinity()};
}

}  // namespace alidade::detail
