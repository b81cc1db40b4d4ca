#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// One axis of a grid: [lower, upper] cut into cells of equal width.
struct GridAxis {
    double lower = 0;
    double upper = 1;  ///< above `lower`
    Index cells = 1;   ///< at least one

    /// Where cell k begins; k = cells gives the upper end.
    double edge(Index k) const noexcept {
        return k == cells ? upper
                          : lower + (upper - lower) * static_cast<double>(k) / static_cast<double>(cells);
    }
    double width() const noexcept { return (upper - lower) / static_cast<double>(cells); }
    bool operator==(const GridAxis&) const = default;
};

/// A box of R^n cut into cells, numbered with the last axis fastest: the states of an aggregated system.
class Grid {
public:
    /// Throws InvalidArgument if there is no axis, one is empty, or there are 2^31 cells or more.
    explicit Grid(std::vector<GridAxis> axes);

    Index dimensions() const noexcept { return static_cast<Index>(axes_.size()); }
    Index cells() const noexcept { return cells_; }
    const std::vector<GridAxis>& axes() const noexcept { return axes_; }

    /// The cell of a point; one outside the box belongs to the nearest cell. On the border of two cells: the
    /// upper one. Throws InvalidArgument if a coordinate is not a number.
    State cell_of(std::span<const double> point) const;
    /// The position of a cell on each axis.
    std::vector<Index> position(State cell) const;
    /// The middle of a cell.
    std::vector<double> centre(State cell) const;
    /// What a cell covers on each axis.
    std::vector<Interval> bounds(State cell) const;
    /// `per_axis`^n points of a cell, symmetric about its centre: the centre alone for one, otherwise evenly
    /// spaced from border to border, corners included.
    std::vector<std::vector<double>> points(State cell, Index per_axis) const;

    bool operator==(const Grid&) const = default;

private:
    void expect_cell(State cell) const;

    std::vector<GridAxis> axes_;
    Index cells_ = 1;
};

/// Draws the next point of a system with a continuous state: all randomness comes from `random`, and `next`,
/// which is as long as `state` and is not the same memory, receives the point.
using Simulator =
    std::function<void(std::span<const double> state, Action action, Stream& random, std::span<double> next)>;

}  // namespace alidade
