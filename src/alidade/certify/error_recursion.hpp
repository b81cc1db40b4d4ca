#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include "../model/sweep.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/error.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Its mean over the start.
inline double start_value(const LearnedModel& learned, const ErrorRecursion& recursion) {
    const Vector first = recursion.values.row(0).transpose();
    return learned.model().start().expect({first.data(), at(first.size())});
}

/// A recursion that bounds others must have been run for the same shape.
inline void require_recursion_of(const Shape& shape, const ErrorRecursion& recursion) {
    expects(recursion.values.rows() == shape.horizon && recursion.values.cols() == shape.states,
            "a recursion of {} steps and {} states; the learned model has {} and {}", recursion.values.rows(),
            recursion.values.cols(), shape.horizon, shape.states);
}

/// No cap: errors may be as large as their backups.
inline double uncapped(Step, State) {
    return std::numeric_limits<double>::infinity();
}

/// The fewest pairs that are worth a chunk: a backup takes half a microsecond or more.
constexpr Index pairs_a_recursion = 128;

/// Runs a recursion of value errors backwards. `make()` makes a function backup(h, pair, next), with the
/// scratch memory of one thread: the error bound of taking the pair's action. No error is above `cap(h, s)`.
template <class Make, class Cap>
ErrorRecursion run_backwards(const Shape& shape, Threads threads, const Make& make, const Cap& cap) {
    ErrorRecursion result{Matrix::Zero(shape.horizon, shape.states),
                          std::vector<std::int32_t>(at(shape.learned_steps() * shape.states), 0)};
    std::array<std::vector<double>, 2> of_steps;  // by turns: a step reads those of the next
    for (std::vector<double>& errors : of_steps) errors.assign(at(shape.states), 0.0);
    const auto back_up = [&](auto& backup, Step h, State first, State last) {
        const std::vector<double>& next = of_steps[at((h + 1) % 2)];
        std::vector<double>& now = of_steps[at(h % 2)];
        for (State s = first; s < last; ++s) {
            const BestAction worst =
                best_action(shape, s, -1, [&](Index pair) { return backup(h, pair, next); });
            now[at(s)] = std::min(worst.value, cap(h, s));
            result.values(h, s) = now[at(s)];
            result.actions[at(h * shape.states + s)] = static_cast<std::int32_t>(worst.action);
        }
    };
    Sweep(shape, threads, pairs_a_recursion).backwards(shape.horizon - 2, make, back_up);
    return result;
}

/// The same on the caller's thread, with one backup for all pairs.
template <class Backup>
ErrorRecursion run_backwards(const Shape& shape, Backup backup) {
    return run_backwards(
        shape, 1, [&] { return std::ref(backup); }, uncapped);
}

}  // namespace alidade::detail
