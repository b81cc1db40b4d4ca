#include "alidade/plan/backward_induction.hpp"

#include <utility>
#include <vector>

#include "../model/sweep.hpp"
#include "backup.hpp"

namespace alidade {

OptimalPlan backward_induction(const TransitionModel& model, const Reward& reward, Threads threads) {
    const Shape& shape = model.shape();
    detail::expect_same_shape(shape, reward.shape(), "reward");
    const auto states = static_cast<std::size_t>(shape.states);
    const auto horizon = static_cast<std::size_t>(shape.horizon);

    // Step-major here, so that a backup reads and writes contiguous rows.
    std::vector<double> values((horizon + 1) * states, 0.0);
    std::vector<std::int32_t> actions(horizon * states);
    const detail::Sweep sweep(shape, threads, detail::pairs_a_backup);
    sweep.backwards(shape.horizon - 1, detail::no_scratch,
                    [&](detail::NoScratch, Step step, State first, State last) {
                        const auto h = static_cast<std::size_t>(step);
                        const double* next = h + 1 == horizon ? nullptr : values.data() + (h + 1) * states;
                        detail::optimal_backup(model, reward, step, {first, last}, next,
                                               values.data() + h * states, actions.data() + h * states);
                    });

    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const double value = model.start().expect(std::span<const double>(values.data(), states));
    return OptimalPlan{Policy::deterministic(shape, std::move(actions)),
                       Eigen::Map<const RowMajor>(values.data(), shape.horizon + 1, shape.states), value};
}

}  // namespace alidade
