#include "interval_loss.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "alidade/theory/regression.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

namespace {

/// What is certain of one action in the state at hand.
struct ActionInterval {
    double probability = 0, reward = 0;
    Interval following;  ///< of P V^pi at the next step
};

/// An upper bound of the advantage of one of the actions. Where neither it nor the policy's own action has
/// anything uncertain after it, it is a difference of rewards, which is negative only if they are so. What
/// follows was added up over as many steps as there are, so the slack grows with them.
double advantage(const std::vector<ActionInterval>& actions, std::size_t a, double slack) {
    const ActionInterval& action = actions[a];
    if (action.probability == 1) return 0;
    double upper = (1 - action.probability) * (action.reward + action.following.upper);
    bool certain = action.following.upper == 0;
    for (std::size_t b = 0; b < actions.size(); ++b) {
        if (b == a || actions[b].probability == 0) continue;
        upper -= actions[b].probability * (actions[b].reward + std::max(0.0, actions[b].following.lower));
        // A mean of rewards is rounded.
        certain = certain && actions[b].probability == 1 && actions[b].following.lower <= 0;
    }
    return certain ? upper : upper + slack;
}

std::vector<double> row_of(const Matrix& values, Step h) {
    std::vector<double> row(at(values.cols()));
    for (State s = 0; s < values.cols(); ++s) row[at(s)] = values(h, s);
    return row;
}

}  // namespace

double interval_loss(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                     const ValueBounds& bounds) {
    const Shape& shape = learned.shape();
    const double slack = rounding_slack(shape.horizon);
    SetBackup backup(learned);
    std::vector<ActionInterval> actions(at(shape.actions));
    std::vector<double> next(at(shape.states), 0.0), now(at(shape.states), 0.0);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const std::vector<double> low = row_of(bounds.policy_lower, h + 1);
        const std::vector<double> high = row_of(bounds.policy_upper, h + 1);
        for (State s = 0; s < shape.states; ++s) {
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                actions[at(a)] = {policy.probability(h, s, a),
                                  reward.at(h, s, a),
                                  {backup(h, pair, low).lower, backup(h, pair, high).upper}};
            }
            double loss = 0;
            for (Action a = 0; a < shape.actions; ++a)
                loss = std::max(loss,
                                advantage(actions, at(a), slack) + backup(h, shape.pair(s, a), next).upper);
            const double most = std::min(static_cast<double>(shape.steps_after(h) + 1),
                                         bounds.optimal_upper(h, s) - bounds.policy_lower(h, s) + slack);
            now[at(s)] = std::min(loss, most);
        }
        std::swap(now, next);
    }
    const StartLaw& start = learned.model().start();
    const bool some = std::ranges::any_of(
        start.atoms(), [&](const auto& atom) { return atom.second > 0 && next[at(atom.first)] > 0; });
    // Not zero by underflow.
    return some ? std::max(start.expect(next), std::numeric_limits<double>::denorm_min()) + slack : 0.0;
}

}  // namespace alidade::detail
