#pragma once

#include <algorithm>
#include <vector>

#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade::testing {

/// A line of `length` states: action 1 moves right (and stays at the end), action 0 stays.
inline TransitionModel line(Index length, Index horizon) {
    BaseKernel kernel{.name = "line", .rows = 2 * length, .columns = length, .offsets = {0}};
    for (Index s = 0; s < length; ++s) {
        for (const Index target : {s, std::min(s + 1, length - 1)}) {
            kernel.targets.push_back(target);
            kernel.probabilities.push_back(1);
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
    }
    return TransitionModel::from_kernel(kernel, 2, horizon, StartLaw(State{0}));
}

/// 0.1 for staying in state 0, 1 for being in the last state.
inline Reward line_reward(Index length, Index horizon) {
    std::vector<double> values(static_cast<std::size_t>(2 * length), 0.0);
    values.front() = 0.1;
    values[values.size() - 2] = values.back() = 1;
    return Reward({length, 2, horizon}, values);
}

}  // namespace alidade::testing
