#include "alidade/certify/value_bounds.hpp"

#include <algorithm>
#include <vector>

#include "set_backup.hpp"

namespace alidade {

ValueBounds value_bounds(const LearnedModel& learned, const Reward& reward, const Policy& policy) {
    const Shape& shape = learned.shape();
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
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                const double r = reward.at(h, s, a);
                most = std::max(most, std::min(range, r + backup(h, pair, best).upper));
                const double weight = policy.probability(h, s, a);
                if (weight == 0) continue;
                low += weight * std::max(0.0, r + backup(h, pair, lower).lower);
                high += weight * std::min(range, r + backup(h, pair, upper).upper);
            }
            bounds.optimal_upper(h, s) = most;
            bounds.policy_lower(h, s) = low;
            bounds.policy_upper(h, s) = high;
        }
    }
    return bounds;
}

}  // namespace alidade
