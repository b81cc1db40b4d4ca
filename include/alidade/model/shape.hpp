#pragma once

#include "alidade/types.hpp"

namespace alidade {

/// Sizes shared by everything that speaks of one decision process.
struct Shape {
    Index states = 0;   ///< S >= 1
    Index actions = 0;  ///< A >= 1
    Index horizon = 0;  ///< H >= 1

    /// Number of state-action pairs.
    Index pairs() const noexcept { return states * actions; }
    /// Position of a state-action pair; base kernels have one row for each.
    Index pair(State s, Action a) const noexcept { return s * actions + a; }
    /// Range of the value at the step after h: H-1-h. Zero at the last step.
    Index steps_after(Step h) const noexcept { return horizon - 1 - h; }
    /// Steps whose transitions matter for some reward: 0 .. H-2.
    Index learned_steps() const noexcept { return horizon - 1; }

    bool operator==(const Shape&) const = default;
};

/// Throws InvalidArgument unless all three sizes are at least one (and fit 31 bits).
void validate(const Shape& shape);

}  // namespace alidade
