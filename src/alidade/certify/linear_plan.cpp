#include "alidade/certify/linear_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "linear_values.hpp"

namespace alidade {

namespace detail {

namespace {

/// V_h(s) = the largest of min{cap, worth} over the state's pairs, and no less than 0.
void clip_to_states(const Vector& worth, double cap, const Shape& shape, Vector& values) {
    for (State s = 0; s < shape.states; ++s)
        values[s] = std::clamp(worth.segment(shape.pair(s, 0), shape.actions).maxCoeff(), 0.0, cap);
}

double at_start(const LearnedLinear& learned, const Vector& values) {
    return learned.model().start().expect({values.data(), at(values.size())});
}

}  // namespace

Vector linear_bonuses(const PairFeatures& features, const LinearEstimate& estimate, double radius) {
    const Matrix scaled = estimate.inverse_factor * features.matrix();
    return radius * scaled.colwise().norm().transpose();
}

Vector linear_backup(const PairFeatures& features, const LinearEstimate& estimate, double scale,
                     const Vector& bonuses, const Vector& next) {
    return estimate.expect(features, next) + scale * bonuses;
}

double linear_exploration_value(const LearnedLinear& learned, const LinearPass& pass, double radius) {
    const Shape& shape = learned.shape();
    const PairFeatures& features = learned.features();
    Vector values = Vector::Zero(shape.states), bonuses(shape.pairs());
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const LinearEstimate& estimate = learned.estimate(h);
        if (radius > 0)
            bonuses = linear_bonuses(features, estimate, radius);
        else
            for (Index pair = 0; pair < shape.pairs(); ++pair) bonuses[pair] = learned.bonus(h, pair);
        clip_to_states(linear_backup(features, estimate, pass.scale(h), bonuses, values), pass.ranges.at(h),
                       shape, values);
    }
    return at_start(learned, values);
}

}  // namespace detail

LinearPlan linear_plan(const LearnedLinear& learned, const Reward& reward) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape,
            "the reward's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    Matrix values = Matrix::Zero(shape.horizon + 1, shape.states);
    std::vector<std::int32_t> actions(at(shape.horizon * shape.states), 0);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        // Nothing comes after the last step.
        const auto range = static_cast<double>(shape.steps_after(h));
        Vector later = Vector::Zero(shape.pairs());
        if (h + 1 < shape.horizon) {
            later = learned.estimate(h).expect(learned.features(), values.row(h + 1).transpose());
            for (Index pair = 0; pair < shape.pairs(); ++pair) later[pair] += range * learned.bonus(h, pair);
        }
        for (State s = 0; s < shape.states; ++s) {
            // Greedy in clipped values, which the argument needs; of those that tie, in those before.
            std::pair best{-1.0, 0.0};
            for (Action a = 0; a < shape.actions; ++a) {
                const double worth = later[shape.pair(s, a)], gained = reward.at(h, s, a);
                const std::pair value{gained + std::clamp(worth, 0.0, range), gained + worth};
                if (!(value > best)) continue;
                best = value;
                actions[at(h * shape.states + s)] = static_cast<std::int32_t>(a);
            }
            values(h, s) = best.first;
        }
    }
    const Vector first = values.row(0).transpose();
    return {Policy::deterministic(shape, std::move(actions)), std::move(values),
            detail::at_start(learned, first)};
}

double linear_plan_bound(const LearnedLinear& learned) {
    const Shape& shape = learned.shape();
    if (shape.learned_steps() == 0) return 0;
    Vector errors = Vector::Zero(shape.states);
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const auto range = static_cast<double>(shape.steps_after(h));
        Vector worth = learned.estimate(h).expect(learned.features(), errors);
        for (Index pair = 0; pair < shape.pairs(); ++pair) worth[pair] += 3 * range * learned.bonus(h, pair);
        detail::clip_to_states(worth, range, shape, errors);
    }
    return detail::at_start(learned, errors) + detail::rounding_slack(shape.horizon);
}

LinearPlanner::LinearPlanner(SharedLearned learned) : learned_(std::move(learned)) {
    expects(learned_ != nullptr, "the planner lsvi needs a learned model");
    learned_->as_linear("the planner lsvi");
}

Plan LinearPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    expects(model.shape() == learned_->shape(), "the planner lsvi was made for a model of another shape");
    // What it claims is of the real system, and an upper end: of the model it claims nothing.
    return {linear_plan(learned_->as_linear("the planner lsvi"), reward).policy, std::nullopt,
            std::numeric_limits<double>::infinity()};
}

}  // namespace alidade
