#include "alidade/plan/lookahead.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/plan/backup.hpp"
#include "alidade/plan/evaluation.hpp"

namespace alidade {

LookaheadPlanner::LookaheadPlanner(Index depth) : depth_(depth) {
    expects(depth >= 1, "lookahead of {} steps; it must see at least 1", depth);
}

Plan LookaheadPlanner::do_plan(const MixtureModel& model, const Reward& reward) const {
    const Shape& shape = model.shape();
    const auto states = static_cast<std::size_t>(shape.states);
    std::vector<double> next(states);
    std::vector<double> value(states);
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon) * states);
    for (Step h = 0; h < shape.horizon; ++h) {
        const Step last = h + std::min(depth_, shape.horizon - h) - 1;
        std::int32_t* const row = actions.data() + static_cast<std::size_t>(h) * states;
        // Later steps write their actions to the same row; step h is backed up last.
        for (Step step = last; step >= h; --step) {
            optimal_backup(model, reward, step, step == last ? nullptr : next.data(), value.data(), row);
            std::swap(value, next);
        }
    }
    Policy policy = Policy::deterministic(shape, std::move(actions));
    const double claimed = evaluate(model, policy, reward).value;
    return Plan{std::move(policy), claimed, std::numeric_limits<double>::infinity()};
}

}  // namespace alidade
