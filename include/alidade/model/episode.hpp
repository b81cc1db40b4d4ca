#pragma once

#include <vector>

#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// One trajectory: the states and actions of steps 0 .. H-1. What follows the last action is not
/// recorded, because no reward depends on it.
struct Episode {
    std::vector<State> states;    ///< H of them
    std::vector<Action> actions;  ///< H of them

    bool operator==(const Episode&) const = default;
};

/// Throws InvalidArgument naming the step whose state or action does not fit the shape.
void validate(const Episode& episode, const Shape& shape);

}  // namespace alidade
