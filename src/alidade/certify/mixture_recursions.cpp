#include "mixture_recursions.hpp"

#include <algorithm>
#include <array>

#include "alidade/error.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

DescribeStep model_step(const DeviationTable& deviations, const RewardCaps& caps) {
    return [&](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::model;
        step.deviations = deviations.row(h);
        caps.describe(h, step);
    };
}

DescribeStep coupling_step(const DeviationTable& deviations, const RewardCaps& caps) {
    return [&](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::coupling;
        step.deviations = deviations.row(h);
        caps.describe(h, step);
    };
}

bool by_operator(const LearnedModel& learned) {
    const LearnedMixture* const mixture = learned.mixture();
    // A truth that is off its mixture but stays in a row's support is asked about pair by pair.
    return mixture != nullptr && mixture->model().features().kind() == FeatureKind::base_models &&
           (mixture->misspecification() == 0 || mixture->reach() == Reach::anywhere) &&
           std::ranges::all_of(mixture->sets(), [](const ConfidenceSet& set) {
               return set.further().empty() && set.vertices() == nullptr;
           });
}

namespace {

/// Where the values and worst actions of all recursions go, step by step; actions may be thrown away.
using KeepStep = std::function<void(Step h, std::span<const ErrorStep> together)>;

void run_steps(const LearnedMixture& learned, const TransitionOperator& passes,
               std::span<const DescribeStep> recursions, const KeepStep& keep) {
    const Shape& shape = learned.shape();
    const auto states = at(shape.states);
    // By turns: a step reads those of the next.
    std::vector<std::array<std::vector<double>, 2>> errors(recursions.size());
    for (auto& of_steps : errors) of_steps.fill(std::vector<double>(states, 0.0));
    std::vector<std::vector<Action>> actions(recursions.size(), std::vector<Action>(states, 0));
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const WeightBall ball = learned.set(h).ball();
        std::vector<ErrorStep> together(recursions.size());
        for (std::size_t k = 0; k < recursions.size(); ++k) {
            ErrorStep& step = together[k];
            step.ball = &ball;
            step.next = errors[k][at((h + 1) % 2)];
            step.now = errors[k][at(h % 2)];
            step.actions = actions[k];
            step.alone = [&learned, h, next = step.next](Index pair) {
                return SetBackup(learned).upper(h, pair, next);
            };
            recursions[k](h, step);
            // Divergences are of mixtures, averaged under the model.
            if (learned.misspecification() > 0 && step.kind != ErrorStep::Kind::divergence) {
                // Over all states, as the truth may lead to any; but no mean leaves the range.
                const auto [least, most] = std::ranges::minmax(step.next);
                step.off = learned.misspecification() * (most - least);
                step.most = most;
            }
        }
        const Vector weights = learned.model().weights(h);
        passes.recurse({weights.data(), at(weights.size())}, together);
        keep(h, together);
    }
}

}  // namespace

std::vector<ErrorRecursion> run_together(const LearnedMixture& learned, const TransitionOperator& passes,
                                         std::span<const DescribeStep> recursions) {
    const Shape& shape = learned.shape();
    std::vector<ErrorRecursion> results(recursions.size());
    for (ErrorRecursion& result : results)
        result = {Matrix::Zero(shape.horizon, shape.states),
                  std::vector<std::int32_t>(at(shape.learned_steps() * shape.states), 0)};
    run_steps(learned, passes, recursions, [&](Step h, std::span<const ErrorStep> together) {
        for (std::size_t k = 0; k < together.size(); ++k) {
            for (State s = 0; s < shape.states; ++s) {
                results[k].values(h, s) = together[k].now[at(s)];
                results[k].actions[at(h * shape.states + s)] =
                    static_cast<std::int32_t>(together[k].actions[at(s)]);
            }
        }
    });
    return results;
}

std::vector<double> start_values(const LearnedMixture& learned, const TransitionOperator& passes,
                                 std::span<const DescribeStep> recursions) {
    std::vector<double> values(recursions.size(), 0.0);
    run_steps(learned, passes, recursions, [&](Step h, std::span<const ErrorStep> together) {
        if (h > 0) return;
        for (std::size_t k = 0; k < together.size(); ++k)
            values[k] = learned.model().start().expect(together[k].now);
    });
    return values;
}

ErrorRecursion run_by_operator(const LearnedModel& learned, Threads threads, const DescribeStep& recursion) {
    const LearnedMixture& mixture = learned.as_mixture("an operator");
    const auto passes = local_operator(mixture.model().features(), threads);
    return std::move(run_together(mixture, *passes, {&recursion, 1}).front());
}

}  // namespace alidade::detail
