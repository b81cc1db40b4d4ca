#pragma once

#include <cstdint>
#include <vector>

#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// How many states the start can lead to and how much the weights can be told apart there, at one step.
struct StepInspection {
    Index reachable = 0;  ///< states that some policy and some base model reach at this step
    Index rank = 0;       ///< directions of the weights that the transitions from these states show
};

/// More steps than this are not listed one by one.
inline constexpr Step most_steps_inspected = 100'000;

/// What can be said about a valid problem before exploring it.
struct Inspection {
    /// H of them, but the first hundred thousand at most; the last step's transitions are never learned.
    std::vector<StepInspection> steps;
    std::vector<State> unreachable;  ///< states that no step reaches, ascending
    Index dimension = 0;             ///< p: directions in which the weights can move; d of a linear MDP
    /// Directions that the transitions from all reachable states together show; fewer than `dimension`
    /// means that the base models are collinear there: weights are not identifiable, predictions are.
    Index rank = 0;
    std::vector<Index> collinear;  ///< features that take part in a direction nothing shows, ascending
    std::int64_t bytes = 0;        ///< memory that exploring takes, roughly
};

/// Inspects a problem. Ranks are numerical: singular values above 1e-6 of the largest count.
Inspection inspect(const Problem& problem);

}  // namespace alidade
