#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alidade/model/grid.hpp"
#include "alidade/problem/aggregation.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// A triangular density on [lower, upper] with its peak at `mode`.
struct TriangularLaw {
    double lower = 0;
    double mode = 0;   ///< in [lower, upper]
    double upper = 1;  ///< above `lower`

    double distribution(double x) const;  ///< chance of at most x
    double quantile(double u) const;      ///< the x with distribution(x) = u, for u in [0, 1]
    /// Total variation of the density, as a function on the line: twice its peak of 2 / (upper - lower).
    double variation() const { return 4 / (upper - lower); }
};

struct ReservoirOptions {
    Index cells = 50;          ///< of the grid over the level
    Index actions = 3;         ///< A releases
    Index features = 3;        ///< d inflow laws
    Index horizon = 4;         ///< H
    double inflow = 0.75;      ///< largest inflow of a step, as a share of the capacity, in (0, 1]
    double start_level = 0.5;  ///< in [0, 1]
};

/// A reservoir whose level s in [0, 1] is continuous: action a releases the share r_a = (a+1)/(A+1) of the
/// water, then an inflow W comes and what does not fit is spilled,
///     s' = min(1, (1 - r_a) s + W).
/// The inflow of base model i has a triangular density on [0, inflow] with its peak at inflow * i / (d-1)
/// (in the middle if d = 1): dry, ..., wet. The true inflow of step h is their mixture.
class Reservoir {
public:
    /// Throws InvalidArgument if a size is below one or a number out of its range.
    explicit Reservoir(const ReservoirOptions& options = {});

    const ReservoirOptions& options() const noexcept { return options_; }
    const Grid& grid() const noexcept { return grid_; }
    double release(Action a) const;
    const std::vector<TriangularLaw>& inflows() const noexcept { return inflows_; }
    std::vector<std::string> inflow_names() const;

    /// Exact laws of the next cell, one a base model.
    std::vector<BaseLaw> laws() const;
    /// The continuous base models, to be stepped.
    std::vector<Simulator> simulators() const;

    /// A proved bound of the total variation between the law of the next cell from any level and that of its
    /// cell, for any mixture of the inflows. Where points lie symmetrically in a cell of width w, the mean
    /// distance of a level from them is at most w / 2; shift_variation does the rest. Since mixing is convex,
    /// it is (1 - r_0) w / inflow.
    double misspecification() const;

    /// The aggregated problem, with natural rewards, `misspecification` and, if given, H rows of true
    /// weights.
    Problem problem(std::optional<Matrix> truth = std::nullopt) const;

private:
    ReservoirOptions options_;
    Grid grid_;
    std::vector<TriangularLaw> inflows_;
};

}  // namespace alidade::detail
