#include "alidade/certify/reward_certificate.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "../model/parallel.hpp"
#include "alidade/error.hpp"
#include "error_recursion.hpp"
#include "following_bounds.hpp"

namespace alidade {

namespace {

/// The bounds of one step, state by state, and what they are asked as.
struct ValuesOfStep {
    std::vector<double> lower, upper, best;
};
/// The fewest states that are worth a chunk.
Index states_a_chunk(const Shape& shape) {
    return std::max<Index>(1, detail::pairs_a_recursion / shape.actions);
}

constexpr std::size_t of_lower = 0, of_upper = 1, of_best = 2;

/// The bounds of one (step, state) from those of the next step.
struct ValuesOfState {
    double lower = 0, upper = 0, most = 0;
};

ValuesOfState bounds_at(detail::FollowingBounds::Reader& following, const Reward& reward,
                        const Policy& policy, Step h, State s) {
    const Shape& shape = reward.shape();
    const auto range = static_cast<double>(shape.steps_after(h) + 1);
    double most = 0, low = 0, high = 0;
    bool earns = false;
    for (Action a = 0; a < shape.actions; ++a) {
        const Index pair = shape.pair(s, a);
        const double r = reward.at(h, s, a);
        // P is monotone, and its weights are in the set: V* <= U is passed on backwards. U depends on the
        // data, which does no harm, as the inequality is about all members at once [theory §3g].
        most = std::max(most, std::min(range, r + following.upper(of_best, pair)));
        const double weight = policy.probability(h, s, a);
        if (weight == 0) continue;
        // Clipped action by action: each Q is from 0 to H-h, not their mean only.
        low += weight * std::max(0.0, r + following.lower(of_lower, pair));
        const double attained = std::min(range, r + following.upper(of_upper, pair));
        high += weight * attained;
        earns = earns || attained > 0;
    }
    // Zero is the claim that nothing can be earned, which a product that underflows is no proof of.
    if (earns && high == 0) high = std::numeric_limits<double>::denorm_min();
    return {low, high, most};
}

}  // namespace

ValueBounds value_bounds(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                         Threads threads) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape && policy.shape() == shape,
            "reward and policy must have the model's shape ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    const Matrix zero = Matrix::Zero(shape.horizon + 1, shape.states);
    ValueBounds bounds{zero, zero, zero};
    const std::vector<double> nothing(at(shape.states), 0.0);
    std::array<ValuesOfStep, 2> of_steps;  // by turns: a step reads those of the next
    of_steps.fill({nothing, nothing, nothing});
    detail::FollowingBounds following(learned, WorstCase::closed_form, threads);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const ValuesOfStep& next = of_steps[at((h + 1) % 2)];
        following.enter(h, {{next.lower, true, false}, {next.upper, false, true}, {next.best, false, true}});
        detail::in_chunks(shape.states, states_a_chunk(shape), threads, [&](State first, State last) {
            detail::FollowingBounds::Reader reader(following);
            ValuesOfStep& now = of_steps[at(h % 2)];
            for (State s = first; s < last; ++s) {
                const ValuesOfState found = bounds_at(reader, reward, policy, h, s);
                bounds.policy_lower(h, s) = now.lower[at(s)] = found.lower;
                bounds.policy_upper(h, s) = now.upper[at(s)] = found.upper;
                bounds.optimal_upper(h, s) = now.best[at(s)] = found.most;
            }
        });
    }
    return bounds;
}

}  // namespace alidade
