#include "depth_limited.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "../model/sweep.hpp"
#include "backup.hpp"

namespace alidade::detail {

Policy plan_to_depth(const TransitionModel& model, const Reward& reward, Index depth, const Matrix* beyond) {
    const Shape& shape = model.shape();
    const auto states = static_cast<std::size_t>(shape.states);
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the next
    for (std::vector<double>& values : of_steps) values.resize(states);
    const Sweep sweep(shape, 1, pairs_a_backup);
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon) * states);
    for (Step h = 0; h < shape.horizon; ++h) {
        const Step end = h + std::min(depth, shape.horizon - h);
        const bool earns = beyond != nullptr && end < shape.horizon;
        if (earns)
            for (State s = 0; s < shape.states; ++s) of_steps[at(end % 2)][at(s)] = (*beyond)(end, s);
        std::int32_t* const row = actions.data() + static_cast<std::size_t>(h) * states;
        // Later steps write their actions to the same row; step h is backed up last.
        sweep.backwards(end - 1 - h, no_scratch, [&](NoScratch, Step after, State first, State last) {
            const Step step = h + after;
            const bool nothing_follows = step == end - 1 && !earns;
            optimal_backup(model, reward, step, {first, last},
                           nothing_follows ? nullptr : of_steps[at((step + 1) % 2)].data(),
                           of_steps[at(step % 2)].data(), row);
        });
    }
    return Policy::deterministic(shape, std::move(actions));
}

}  // namespace alidade::detail
