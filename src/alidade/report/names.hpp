#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/problem/problem.hpp"

namespace alidade::report::detail {

/// At most so many characters, the last being an ellipsis where some were left out.
std::string shortened(std::string_view text, std::size_t most);

/// The same names, with numbers behind those that come again: as the bands of an axis must be.
std::vector<std::string> distinct(std::vector<std::string> names);

/// States that are the cells of a rectangle, by their names: "3,1" is column 3 of row 1.
struct CellGrid {
    Index columns = 0, rows = 0;
    std::vector<Index> column, row;  ///< of each state
};

/// What states, actions and base models are called on the page: printable, and not too long. Refers to the
/// problem.
struct Names {
    const Problem* problem = nullptr;
    std::vector<std::string> actions, bases;  ///< no two the same
    std::optional<CellGrid> grid;             ///< where the states are one
    std::vector<std::string> arrows;          ///< instead of the actions, where all of them are directions

    std::string state(State s) const;
    /// "step 3, stock 4, order 2".
    std::string place(Step h, State s, Action a) const;
};

Names names_of(const Problem& problem);

}  // namespace alidade::report::detail
