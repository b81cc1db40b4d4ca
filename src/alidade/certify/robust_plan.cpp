#include "alidade/certify/robust_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../model/parallel.hpp"
#include "../theory/radii.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "error_recursion.hpp"
#include "following_bounds.hpp"

namespace alidade {

namespace {

void check_shape(const LearnedModel& learned, const Shape& given, const char* what) {
    const Shape& shape = learned.shape();
    expects(given == shape, "the {}'s shape is not the model's ({} states, {} actions, horizon {})", what,
            shape.states, shape.actions, shape.horizon);
}

/// Expectation of L_0 over the start, less what rounding can have added.
double guarantee(const LearnedModel& learned, const Matrix& lower) {
    const Vector first = lower.row(0).transpose();
    const double value = learned.model().start().expect({first.data(), at(first.size())});
    return std::max(0.0, value - detail::rounding_slack(learned.shape().horizon));
}

/// The pessimistic recursion; `follow`, if any, chooses the actions instead of the maximum.
std::pair<Policy, Matrix> pessimistic_induction(const LearnedModel& learned, const Reward& reward,
                                                WorstCase worst, const Policy* follow, Threads threads) {
    const Shape& shape = learned.shape();
    Matrix lower = Matrix::Zero(shape.horizon + 1, shape.states);
    std::vector<std::int32_t> actions(at(shape.horizon * shape.states), 0);
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the next
    of_steps.fill(std::vector<double>(at(shape.states), 0.0));
    detail::FollowingBounds following(learned, worst, threads);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        following.enter(h, {{of_steps[at((h + 1) % 2)], true, false}});
        const Index grain = std::max<Index>(1, detail::pairs_a_recursion / shape.actions);
        detail::in_chunks(shape.states, grain, threads, [&](State first, State last) {
            detail::FollowingBounds::Reader reader(following);
            for (State s = first; s < last; ++s) {
                double best = -std::numeric_limits<double>::infinity();
                for (Action a = 0; a < shape.actions; ++a) {
                    if (follow && follow->action(h, s) != a) continue;
                    // The unclipped value decides, so that what is clipped to zero is still compared.
                    const double value = reward.at(h, s, a) + reader.lower(0, shape.pair(s, a));
                    if (!(value > best)) continue;
                    best = value;
                    actions[at(h * shape.states + s)] = static_cast<std::int32_t>(a);
                }
                // Rewards are not negative, so neither is a value.
                lower(h, s) = of_steps[at(h % 2)][at(s)] = std::max(0.0, best);
            }
        });
    }
    return {Policy::deterministic(shape, std::move(actions)), std::move(lower)};
}

}  // namespace

RobustPlan robust_plan(const LearnedModel& learned, const Reward& reward, WorstCase worst, Threads threads) {
    check_shape(learned, reward.shape(), "reward");
    const OptimalPlan optimal = backward_induction(learned.model(), reward, threads);
    const Matrix of_optimal = pessimistic_induction(learned, reward, worst, &optimal.policy, threads).second;
    auto [policy, lower] = pessimistic_induction(learned, reward, worst, nullptr, threads);
    PriceOfRobustness price;
    price.optimal_model_value = optimal.value;
    price.optimal_guaranteed = guarantee(learned, of_optimal);
    price.guaranteed = guarantee(learned, lower);
    // Robustness that gains nothing would only cost.
    if (price.guaranteed <= price.optimal_guaranteed) {
        policy = optimal.policy;
        lower = of_optimal;
        price.guaranteed = price.optimal_guaranteed;
    }
    price.model_value = evaluate(learned.model(), policy, reward, threads).value;
    return {std::move(policy), std::move(lower), price};
}

PriceOfRobustness price_of_robustness(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                                      Threads threads) {
    check_shape(learned, reward.shape(), "reward");
    check_shape(learned, policy.shape(), "policy");
    const OptimalPlan optimal = backward_induction(learned.model(), reward, threads);
    const auto guaranteed = [&](const Policy& other) {
        return guarantee(learned, value_bounds(learned, reward, other, threads).policy_lower);
    };
    return {evaluate(learned.model(), policy, reward, threads).value, optimal.value, guaranteed(policy),
            guaranteed(optimal.policy)};
}

RobustPlanner::RobustPlanner(SharedLearned learned, Threads threads)
    : learned_(std::move(learned)), threads_(threads) {
    expects(learned_ != nullptr, "a robust planner needs a learned model");
}

Plan RobustPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    expects(model.shape() == learned_->shape(), "the robust planner was made for a model of another shape");
    RobustPlan plan = robust_plan(*learned_, reward, WorstCase::closed_form, threads_);
    return {std::move(plan.policy), plan.price.model_value, std::max(0.0, plan.price.cost())};
}

}  // namespace alidade
