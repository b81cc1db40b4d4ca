#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

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

/// Runs a recursion of value errors backwards; `backup(h, pair, next)` is the error bound of taking the
/// pair's action, and no error is above `cap(h, s)`.
template <class Backup, class Cap>
ErrorRecursion run_backwards(const Shape& shape, Backup backup, Cap cap) {
    ErrorRecursion result{Matrix::Zero(shape.horizon, shape.states),
                          std::vector<Action>(at(shape.learned_steps() * shape.states), 0)};
    std::vector<double> next(at(shape.states), 0.0), now(at(shape.states), 0.0);
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        for (State s = 0; s < shape.states; ++s) {
            double best = -1;
            for (Action a = 0; a < shape.actions; ++a) {
                const double value = backup(h, shape.pair(s, a), next);
                if (value <= best) continue;
                best = value;
                result.actions[at(h * shape.states + s)] = a;
            }
            now[at(s)] = std::min(best, cap(h, s));
            result.values(h, s) = now[at(s)];
        }
        std::swap(now, next);
    }
    return result;
}

template <class Backup>
ErrorRecursion run_backwards(const Shape& shape, Backup backup) {
    return run_backwards(shape, backup, [](Step, State) { return std::numeric_limits<double>::infinity(); });
}

}  // namespace alidade::detail
