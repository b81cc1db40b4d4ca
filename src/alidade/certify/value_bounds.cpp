#include "alidade/certify/value_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "alidade/error.hpp"
#include "set_backup.hpp"

namespace alidade {

ValueBounds value_bounds(const LearnedModel& learned, const Reward& reward, const Policy& policy) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape && policy.shape() == shape,
            "reward and policy must have the model's shape ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    detail::SetBackup backup(learned);
    const Matrix zero = Matrix::Zero(shape.horizon + 1, shape.states);
    ValueBounds bounds{zero, zero, zero};
    std::vector<double> lower(at(shape.states)), upper(at(shape.states)), best(at(shape.states));
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const auto range = static_cast<double>(shape.steps_after(h) + 1);
        for (State s = 0; s < shape.states; ++s) {
            lower[at(s)] = bounds.policy_lower(h + 1, s);
            upper[at(s)] = bounds.policy_upper(h + 1, s);
            best[at(s)] = bounds.optimal_upper(h + 1, s);
        }
        for (State s = 0; s < shape.states; ++s) {
            double most = 0, low = 0, high = 0;
            bool earns = false;
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                const double r = reward.at(h, s, a);
                most = std::max(most, std::min(range, r + backup(h, pair, best).upper));
                const double weight = policy.probability(h, s, a);
                if (weight == 0) continue;
                low += weight * std::max(0.0, r + backup(h, pair, lower).lower);
                const double attained = std::min(range, r + backup(h, pair, upper).upper);
                high += weight * attained;
                earns = earns || attained > 0;
            }
            // Zero is the claim that nothing can be earned, which a product that underflows is no proof of.
            if (earns && high == 0) high = std::numeric_limits<double>::denorm_min();
            bounds.optimal_upper(h, s) = most;
            bounds.policy_lower(h, s) = low;
            bounds.policy_upper(h, s) = high;
        }
    }
    return bounds;
}

}  // namespace alidade
