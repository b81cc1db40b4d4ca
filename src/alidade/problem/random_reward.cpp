#include "alidade/problem/reward_catalogue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {
namespace {

/// Ones for all actions of a state, in a row of pairs that starts at `row`.
void pay(std::vector<double>& values, Index row, const Shape& shape, State state) {
    expects(state >= 0 && state < shape.states, "there is no state {}; the problem has {}", state,
            shape.states);
    std::fill_n(values.begin() + row + shape.pair(state, 0), shape.actions, 1.0);
}

}  // namespace

Reward random_reward(const Shape& shape, RandomRewardKind kind, Stream& random, double density) {
    expects(density >= 0 && density <= 1, "density is {}; must be from 0 to 1", density);
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()));
    for (double& value : values) {
        const double u = sample_uniform(random);
        value = kind == RandomRewardKind::dense                          ? u
                : u < (kind == RandomRewardKind::binary ? 0.5 : density) ? 1.0
                                                                         : 0.0;
    }
    return Reward(shape, std::move(values));
}

Reward single_state_reward(const Shape& shape, State state) {
    std::vector<double> values(static_cast<std::size_t>(shape.pairs()), 0.0);
    pay(values, 0, shape, state);
    return Reward(shape, std::move(values));
}

Reward reach_reward(const Shape& shape, State state) {
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()), 0.0);
    pay(values, (shape.horizon - 1) * shape.pairs(), shape, state);
    return Reward(shape, std::move(values));
}

}  // namespace alidade
