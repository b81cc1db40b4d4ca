#include "alidade/model/policy.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "normalise.hpp"

namespace alidade {

Policy Policy::deterministic(const Shape& shape, std::vector<std::int32_t> actions) {
    validate(shape);
    expects(static_cast<Index>(actions.size()) == shape.horizon * shape.states,
            "policy has {} actions; must be {} (horizon*states)", actions.size(),
            shape.horizon * shape.states);
    for (std::size_t i = 0; i < actions.size(); ++i)
        expects(actions[i] >= 0 && actions[i] < shape.actions,
                "policy: action {} at step {}, state {}; must be 0 to {}", actions[i],
                static_cast<Index>(i) / shape.states, static_cast<Index>(i) % shape.states,
                shape.actions - 1);
    Policy policy(shape);
    policy.actions_ = std::move(actions);
    return policy;
}

Policy Policy::stochastic(const Shape& shape, std::vector<double> probabilities) {
    validate(shape);
    const Index rows = shape.horizon * shape.states;
    expects(static_cast<Index>(probabilities.size()) == rows * shape.actions,
            "policy has {} probabilities; must be {} (horizon*states*actions)", probabilities.size(),
            rows * shape.actions);
    for (Index r = 0; r < rows; ++r) {
        double sum = 0;
        for (Action a = 0; a < shape.actions; ++a) {
            const double p = probabilities[static_cast<std::size_t>(r * shape.actions + a)];
            expects(std::isfinite(p) && p >= 0,
                    "policy: probability of action {} at step {}, state {} is {}; must be from 0 to 1", a,
                    r / shape.states, r % shape.states, p);
            sum += p;
        }
        expects(std::abs(sum - 1) <= 1e-9,
                "policy: probabilities at step {}, state {} sum to {:.12g} (must be 1 within 1e-9)",
                r / shape.states, r % shape.states, sum);
        detail::normalise(probabilities.data() + r * shape.actions, shape.actions);
    }
    Policy policy(shape);
    policy.probabilities_ = std::move(probabilities);
    return policy;
}

Policy Policy::uniform(const Shape& shape) {
    validate(shape);
    return stochastic(shape, std::vector<double>(static_cast<std::size_t>(shape.horizon * shape.pairs()),
                                                 1 / static_cast<double>(shape.actions)));
}

double Policy::probability(Step h, State s, Action a) const noexcept {
    if (is_deterministic()) return action(h, s) == a ? 1 : 0;
    return probabilities_[static_cast<std::size_t>((h * shape_.states + s) * shape_.actions + a)];
}

}  // namespace alidade
