#include "alidade/model/grid.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {

Grid::Grid(std::vector<GridAxis> axes) : axes_(std::move(axes)) {
    expects(!axes_.empty(), "a grid needs at least one axis");
    constexpr double most = 2147483648.0;  // states are 31-bit numbers
    double count = 1;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const GridAxis& axis = axes_[i];
        expects(std::isfinite(axis.lower) && std::isfinite(axis.upper) && axis.lower < axis.upper,
                "axis {} of the grid is [{}, {}]; it must be finite and not empty", i, axis.lower,
                axis.upper);
        expects(axis.cells >= 1, "axis {} of the grid has {} cells; it must have at least one", i,
                axis.cells);
        count *= static_cast<double>(axis.cells);
        expects(count < most, "the grid has {} cells or more; it must have fewer than 2^31", count);
        cells_ *= axis.cells;
    }
}

State Grid::cell_of(std::span<const double> point) const {
    expects(std::ssize(point) == dimensions(), "a point of {} numbers on a grid of {} axes", point.size(),
            dimensions());
    State cell = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const GridAxis& axis = axes_[i];
        expects(!std::isnan(point[i]), "coordinate {} of a point is not a number", i);
        const double last = static_cast<double>(axis.cells - 1);
        const double place = std::floor((point[i] - axis.lower) / axis.width());
        cell = cell * axis.cells + static_cast<Index>(std::clamp(place, 0.0, last));
    }
    return cell;
}

void Grid::expect_cell(State cell) const {
    expects(cell >= 0 && cell < cells_, "there is no cell {}; the grid has {}", cell, cells_);
}

std::vector<Index> Grid::position(State cell) const {
    expect_cell(cell);
    std::vector<Index> places(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
        places[i] = cell % axes_[i].cells;
        cell /= axes_[i].cells;
    }
    return places;
}

std::vector<double> Grid::centre(State cell) const {
    std::vector<double> point;
    for (const auto& [lower, upper] : bounds(cell)) point.push_back((lower + upper) / 2);
    return point;
}

std::vector<Interval> Grid::bounds(State cell) const {
    const std::vector<Index> places = position(cell);
    std::vector<Interval> box;
    for (std::size_t i = 0; i < axes_.size(); ++i)
        box.push_back({axes_[i].edge(places[i]), axes_[i].edge(places[i] + 1)});
    return box;
}

std::vector<std::vector<double>> Grid::points(State cell, Index per_axis) const {
    expects(per_axis >= 1, "{} points an axis of a cell; must be at least one", per_axis);
    const std::vector<Interval> box = bounds(cell);
    std::vector<std::vector<double>> result{{}};
    for (const auto& [lower, upper] : box) {
        std::vector<std::vector<double>> longer;
        for (const std::vector<double>& point : result) {
            for (Index k = 0; k < per_axis; ++k) {
                const double share =
                    per_axis == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(per_axis - 1);
                longer.push_back(point);
                longer.back().push_back(lower + share * (upper - lower));
            }
        }
        result = std::move(longer);
    }
    return result;
}

}  // namespace alidade
