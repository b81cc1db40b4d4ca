#include "alidade/model/grid.hpp"

#include <fmt/format.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "alidade/error.hpp"
#include "arrays.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

std::vector<State> cells_of(const Grid& grid, nb::handle points) {
    const auto array = doubles(points, "points");
    const std::size_t n = at(grid.dimensions());
    expects(array.ndim() >= 1 && array.shape(array.ndim() - 1) == n,
            "points have shape {}; the last dimension must be {}, that of the grid", shape_text(array), n);
    std::vector<State> cells;
    for (std::size_t i = 0; i < array.size() / n; ++i)
        cells.push_back(grid.cell_of({array.data() + i * n, n}));
    return cells;
}

}  // namespace

void bind_grid(nb::module_& m) {
    nb::class_<Grid>(m, "Grid", "A box of R^n cut into cells, numbered with the last axis fastest.")
        .def(
            "__init__",
            [](Grid* self, const std::vector<std::tuple<double, double, Index>>& axes) {
                std::vector<GridAxis> parts;
                for (const auto& [lower, upper, cells] : axes) parts.push_back({lower, upper, cells});
                new (self) Grid(std::move(parts));
            },
            "axes"_a,
            "One (lower, upper, cells) an axis.\n\n"
            ">>> import alidade\n"
            ">>> grid = alidade.Grid([(0, 1, 10), (-1, 1, 4)])\n"
            ">>> grid.cells, grid.cell_of([0.55, 0.1])\n"
            "(40, 22)\n")
        .def_prop_ro("dimensions", &Grid::dimensions)
        .def_prop_ro("cells", &Grid::cells)
        .def_prop_ro("axes",
                     [](const Grid& grid) {
                         std::vector<std::tuple<double, double, Index>> axes;
                         for (const GridAxis& axis : grid.axes())
                             axes.emplace_back(axis.lower, axis.upper, axis.cells);
                         return axes;
                     })
        .def(
            "cell_of",
            [](const Grid& grid, nb::handle point) {
                const auto cells = cells_of(grid, point);
                expects(cells.size() == 1, "{} points; must be one", cells.size());
                return cells.front();
            },
            "point"_a, nb::sig("def cell_of(self, point: numpy.typing.ArrayLike) -> int"),
            "The cell of a point; one outside the box belongs to the nearest cell.")
        .def(
            "cells_of",
            [](const Grid& grid, nb::handle points) {
                std::vector<State> cells = cells_of(grid, points);
                std::vector<std::int64_t> numbers(cells.begin(), cells.end());
                const std::size_t count = numbers.size();
                return own(std::move(numbers), {count});
            },
            "points"_a,
            nb::sig(
                "def cells_of(self, points: numpy.typing.ArrayLike) -> numpy.typing.NDArray[numpy.int64]"),
            "The cells of many points, shape (points, dimensions).")
        .def("centre", &Grid::centre, "cell"_a, "The middle of a cell.")
        .def(
            "bounds",
            [](const Grid& grid, State cell) {
                std::vector<std::tuple<double, double>> bounds;
                for (const Interval& axis : grid.bounds(cell)) bounds.emplace_back(axis.lower, axis.upper);
                return bounds;
            },
            "cell"_a, "What a cell covers on each axis.")
        .def("points", &Grid::points, "cell"_a, "per_axis"_a,
             "``per_axis`` to the power of n points of a cell, symmetric about its centre, corners included "
             "from two on.")
        .def("__repr__", [](const Grid& grid) {
            return fmt::format("<grid of {} dimensions and {} cells>", grid.dimensions(), grid.cells());
        });
}

}  // namespace alidade::python
