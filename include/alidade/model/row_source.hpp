#pragma once

#include <functional>
#include <string>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// Where one pair leads under all base models.
struct BaseRow {
    std::vector<State> targets;         ///< next states, distinct, in any order
    std::vector<double> probabilities;  ///< d numbers for each target, target after target
};

/// Base models by a rule instead of by tables: large ones nearly always come from one. Each base model's
/// probabilities of a pair sum to 1 within 1e-9.
struct RowSource {
    Index states = 0;
    Index actions = 0;
    std::vector<std::string> names;  ///< of the d base models
    Index most_successors = 0;       ///< no pair has more targets
    /// Sets `row`, which has what it was left with; the same for the same pair. Called for pairs in any
    /// order, and by several threads at once, each with a function of its own that `make` has made.
    using Row = std::function<void(Index pair, BaseRow& row)>;
    std::function<Row()> make;
};

}  // namespace alidade
