#include "alidade/plan/backward_induction.hpp"

#include <utility>
#include <vector>

#include "../model/parallel.hpp"
#include "../model/sweep.hpp"
#include "alidade/model/transition_operator.hpp"
#include "backup.hpp"

namespace alidade {

namespace {

/// The same backups of a large mixture, all expectations of a step at once: the same bits.
void plan_by_operator(const TransitionModel& model, const Reward& reward, Threads threads,
                      std::vector<double>& values, std::vector<std::int32_t>& actions) {
    const Shape& shape = model.shape();
    const auto states = at(shape.states);
    const auto passes = local_operator(*model.computed_from(), threads);
    std::vector<double> expected(at(shape.pairs()), 0.0);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        if (h + 1 < shape.horizon)
            passes->expect(model.computed_with(h), std::span(values).subspan(at(h + 1) * states, states),
                           expected);
        const double* const rewards = reward.at(h).data();
        detail::in_chunks(shape.states, detail::pairs_a_backup, threads, [&](State first, State last) {
            for (State s = first; s < last; ++s) {
                // Below every value: rewards are not negative.
                const detail::BestAction best = detail::best_action(
                    shape, s, -1, [&](Index pair) { return rewards[pair] + expected[at(pair)]; });
                values[at(h * shape.states + s)] = best.value;
                actions[at(h * shape.states + s)] = static_cast<std::int32_t>(best.action);
            }
        });
    }
}

}  // namespace

OptimalPlan backward_induction(const TransitionModel& model, const Reward& reward, Threads threads) {
    const Shape& shape = model.shape();
    detail::expect_same_shape(shape, reward.shape(), "reward");
    const auto states = static_cast<std::size_t>(shape.states);
    const auto horizon = static_cast<std::size_t>(shape.horizon);

    // Step-major here, so that a backup reads and writes contiguous rows.
    std::vector<double> values((horizon + 1) * states, 0.0);
    std::vector<std::int32_t> actions(horizon * states);
    const detail::Sweep sweep(shape, threads, detail::pairs_a_backup);
    if (model.computed_from() != nullptr)
        plan_by_operator(model, reward, threads, values, actions);
    else
        sweep.backwards(shape.horizon - 1, detail::no_scratch,
                        [&](detail::NoScratch, Step step, State first, State last) {
                            const auto h = static_cast<std::size_t>(step);
                            const double* next =
                                h + 1 == horizon ? nullptr : values.data() + (h + 1) * states;
                            detail::optimal_backup(model, reward, step, {first, last}, next,
                                                   values.data() + h * states, actions.data() + h * states);
                        });

    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const double value = model.start().expect(std::span<const double>(values.data(), states));
    return OptimalPlan{Policy::deterministic(shape, std::move(actions)),
                       Eigen::Map<const RowMajor>(values.data(), shape.horizon + 1, shape.states), value};
}

}  // namespace alidade
