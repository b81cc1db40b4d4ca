#include "interval_loss.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "../model/parallel.hpp"
#include "../theory/radii.hpp"
#include "error_recursion.hpp"
#include "following_bounds.hpp"

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
        // Rows have nothing in common, so each action is at its own worst: this one at its upper end, the
        // others at their lower ends [docs/algorithms/rows.md, Certificates].
        upper -= actions[b].probability * (actions[b].reward + std::max(0.0, actions[b].following.lower));
        // A mean of rewards is rounded.
        certain = certain && actions[b].probability == 1 && actions[b].following.lower <= 0;
    }
    return certain ? upper : upper + slack;
}

std::vector<double> values_at(const Matrix& values, Step h) {
    std::vector<double> row(at(values.cols()));
    for (State s = 0; s < values.cols(); ++s) row[at(s)] = values(h, s);
    return row;
}

/// The rewards near the one, and what they need; nothing where it is alone.
struct Neighbours {
    const DeviationTable* deviations = nullptr;
    const NearRewards* near = nullptr;
};

NearLoss recursion_of_intervals(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                                const ValueBounds& bounds, Threads threads, const Neighbours& around) {
    const Shape& shape = learned.shape();
    const NearRewards* const near = around.near;
    std::vector<double> margins(at(shape.states), std::numeric_limits<double>::infinity());
    const double slack = rounding_slack(shape.horizon);
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the next
    of_steps.fill(std::vector<double>(at(shape.states), 0.0));
    FollowingBounds following(learned, WorstCase::closed_form, threads);
    constexpr std::size_t of_low = 0, of_high = 1, of_loss = 2;
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const std::vector<double> low = values_at(bounds.policy_lower, h + 1);
        const std::vector<double> high = values_at(bounds.policy_upper, h + 1);
        following.enter(h,
                        {{low, true, false}, {high, false, true}, {of_steps[at((h + 1) % 2)], false, true}});
        const Index grain = std::max<Index>(1, pairs_a_recursion / shape.actions);
        in_chunks(shape.states, grain, threads, [&](State first, State last) {
            FollowingBounds::Reader reader(following);
            std::vector<ActionInterval> actions(at(shape.actions));
            std::optional<NearWidening> widening;
            if (near != nullptr) widening.emplace(learned, *around.deviations, policy, *near);
            for (State s = first; s < last; ++s) {
                if (widening) widening->enter(h, s);
                for (Action a = 0; a < shape.actions; ++a) {
                    const Index pair = shape.pair(s, a);
                    actions[at(a)] = {policy.probability(h, s, a),
                                      reward.at(h, s, a),
                                      {reader.lower(of_low, pair), reader.upper(of_high, pair)}};
                }
                double loss = 0;
                for (Action a = 0; a < shape.actions; ++a) {
                    double above = advantage(actions, at(a), slack);
                    if (widening && actions[at(a)].probability < 1) {
                        const double by = (*widening)(a);
                        if (near->counts(h, s))
                            margins[at(s)] = std::min(margins[at(s)], margin_of(above, by));
                        above = widened(above, by, near->scale);
                    }
                    loss = std::max(loss, above + reader.upper(of_loss, shape.pair(s, a)));
                }
                // The two policies' first rewards differ: H-h, not H-1-h [likelihood §9.6]. Nor is the loss
                // above U - L.
                const double most =
                    near != nullptr
                        ? near->most(h, s)
                        : std::min(static_cast<double>(shape.steps_after(h) + 1),
                                   bounds.optimal_upper(h, s) - bounds.policy_lower(h, s) + slack);
                of_steps[at(h % 2)][at(s)] = std::min(loss, most);
            }
        });
    }
    const std::vector<double>& next = of_steps[0];
    const StartLaw& start = learned.model().start();
    const bool some = std::ranges::any_of(
        start.atoms(), [&](const auto& atom) { return atom.second > 0 && next[at(atom.first)] > 0; });
    // Not zero by underflow.
    return {some ? std::max(start.expect(next), std::numeric_limits<double>::denorm_min()) + slack : 0.0,
            std::ranges::min(margins)};
}

}  // namespace

double interval_loss(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                     const ValueBounds& bounds, Threads threads) {
    return recursion_of_intervals(learned, reward, policy, bounds, threads, {}).loss;
}

NearLoss interval_loss(const LearnedModel& learned, const DeviationTable& deviations, const Reward& reward,
                       const Policy& policy, const ValueBounds& bounds, const NearRewards& near,
                       Threads threads) {
    return recursion_of_intervals(learned, reward, policy, bounds, threads, {&deviations, &near});
}

}  // namespace alidade::detail
