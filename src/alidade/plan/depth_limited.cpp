#include "alidade/plan/depth_limited.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "alidade/plan/backup.hpp"

namespace alidade {

Policy plan_to_depth(const TransitionModel& model, const Reward& reward, Index depth, const Matrix* beyond) {
    const Shape& shape = model.shape();
    const auto states = static_cast<std::size_t>(shape.states);
    std::vector<double> next(states);
    std::vector<double> value(states);
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon) * states);
    for (Step h = 0; h < shape.horizon; ++h) {
        const Step end = h + std::min(depth, shape.horizon - h);
        const bool earns = beyond != nullptr && end < shape.horizon;
        if (earns)
            for (State s = 0; s < shape.states; ++s) next[static_cast<std::size_t>(s)] = (*beyond)(end, s);
        std::int32_t* const row = actions.data() + static_cast<std::size_t>(h) * states;
        // Later steps write their actions to the same row; step h is backed up last.
        for (Step step = end - 1; step >= h; --step) {
            const bool nothing_follows = step == end - 1 && !earns;
            optimal_backup(model, reward, step, nothing_follows ? nullptr : next.data(), value.data(), row);
            std::swap(value, next);
        }
    }
    return Policy::deterministic(shape, std::move(actions));
}

}  // namespace alidade
