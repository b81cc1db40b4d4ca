#include "lookahead.hpp"

#include <limits>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/plan/evaluation.hpp"
#include "depth_limited.hpp"

namespace alidade::detail {

LookaheadPlanner::LookaheadPlanner(Index depth) : depth_(depth) {
    expects(depth >= 1, "lookahead of {} steps; it must see at least 1", depth);
}

Plan LookaheadPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    Policy policy = plan_to_depth(model, reward, depth_, nullptr);
    const double claimed = evaluate(model, policy, reward).value;
    return Plan{std::move(policy), claimed, std::numeric_limits<double>::infinity()};
}

}  // namespace alidade::detail
