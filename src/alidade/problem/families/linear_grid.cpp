#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "gridworld.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

constexpr Index regions = 4, directions = 4;

/// Quadrants: left and right of the middle, below and above it.
Index region_of(const Cells& grid, State s) {
    const Index right = 2 * (s % grid.width) >= grid.width ? 1 : 0;
    const Index above = 2 * (s / grid.width) >= grid.height ? 1 : 0;
    return 2 * above + right;
}

SharedPairFeatures one_hot_regions(const Cells& grid) {
    constexpr Index d = regions * directions;
    std::vector<double> values(at(grid.states() * directions * d), 0.0);
    for (State s = 0; s < grid.states(); ++s)
        for (Action a = 0; a < directions; ++a)
            values[at((s * directions + a) * d + region_of(grid, s) * directions + a)] = 1;
    return std::make_shared<const PairFeatures>(all_successors(grid.states(), directions), d,
                                                std::move(values), std::sqrt(static_cast<double>(d)));
}

/// The mean, over the cells of a region, of where a move leads.
Matrix mean_moves(const Cells& grid, const FeatureMap& slips, const Vector& weights) {
    Matrix measures = Matrix::Zero(regions * directions, grid.states());
    for (State s = 0; s < grid.states(); ++s)
        for (Action a = 0; a < directions; ++a) {
            const Index row = region_of(grid, s) * directions + a, pair = slips.pair(s, a);
            for (Index e = slips.first_entry(pair); e < slips.first_entry(pair + 1); ++e) {
                const auto phi = slips.phi(e);
                measures(row, slips.targets()[at(e)]) +=
                    Eigen::Map<const Vector>(phi.data(), weights.size()).dot(weights);
            }
        }
    for (Index row = 0; row < measures.rows(); ++row) {
        const double cells = measures.row(row).sum();
        // A grid of one row or column has regions without cells; any law will do there.
        if (cells > 0)
            measures.row(row) /= cells;
        else
            measures(row, 0) = 1;
    }
    return measures;
}

Problem make_linear_grid(const FamilyArguments& arguments) {
    const Cells grid{arguments.integer("width"), arguments.integer("height")};
    expects(grid.states() >= 2, "builtin:linear-grid: a grid of 1 by 1 has no move; make it wider or higher");
    ProblemDescription parts;
    parts.name = "linear-grid";
    parts.linear = one_hot_regions(grid);
    parts.horizon = arguments.integer_or("horizon", grid.width + grid.height);
    const SharedFeatures slips = grid_features(grid, arguments.real("slip"));
    const Matrix weights = draw_weights(arguments, parts.horizon, slips->features());
    for (Step h = 0; h < parts.horizon; ++h)
        parts.measures.push_back(mean_moves(grid, *slips, weights.row(h).transpose()));
    name_grid(grid, parts);
    return Problem(std::move(parts));
}

}  // namespace

Family linear_grid_family() {
    return {"linear-grid",
            "A linear MDP: a walk on a grid by somebody who knows the quadrant and not the cell; moves lead "
            "where they would from a random cell of the quadrant.",
            {
                integer_parameter("width", 4, 1, 30, "Cells from left to right."),
                integer_parameter("height", 4, 1, 30, "Cells from bottom to top."),
                derived_parameter("horizon", "width + height", 1, max_horizon, "Steps of an episode."),
                real_parameter("slip", "0.2", 0.001, 1,
                               "Chance of a slip: to the left or right of the intended direction, or in one "
                               "of all four."),
                seed_parameter(),
            },
            make_linear_grid};
}

}  // namespace alidade::detail
