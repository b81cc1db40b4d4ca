#pragma once

#include <array>

#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

inline constexpr Index max_side = 1000;

/// The cells of a grid, which are its states.
struct Cells {
    Index width, height;

    Index states() const { return width * height; }
    State cell(Index x, Index y) const { return y * width + x; }
    /// The cell one step away; a wall keeps the walker where it is. Directions clockwise from up.
    State step(State s, Index direction) const {
        constexpr std::array<Index, 4> dx{0, 1, 0, -1}, dy{1, 0, -1, 0};
        const auto d = static_cast<std::size_t>(direction % 4);
        const Index x = s % width + dx[d], y = s / width + dy[d];
        return x < 0 || x >= width || y < 0 || y >= height ? s : cell(x, y);
    }
};

/// The ways to slip as base models: none, left, right, uniform.
SharedFeatures grid_features(const Cells& grid, double slip);

/// Names of cells and directions, and the natural rewards of a grid with the parts' horizon.
void name_grid(const Cells& grid, ProblemDescription& parts);

}  // namespace alidade::detail
