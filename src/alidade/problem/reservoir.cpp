#include "reservoir.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::detail {
namespace {

ReservoirOptions checked(const ReservoirOptions& options) {
    expects(options.cells >= 1 && options.actions >= 1 && options.features >= 1,
            "a reservoir of {} cells, {} actions and {} inflow laws; it needs at least one of each",
            options.cells, options.actions, options.features);
    expects(options.inflow > 0 && options.inflow <= 1,
            "the largest inflow is {}; it must be above 0 and at most 1", options.inflow);
    expects(options.start_level >= 0 && options.start_level <= 1, "the start level is {}; it must be 0 to 1",
            options.start_level);
    return options;
}

std::vector<TriangularLaw> inflow_laws(const ReservoirOptions& options) {
    std::vector<TriangularLaw> laws;
    for (Index i = 0; i < options.features; ++i) {
        const double share =
            options.features == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(options.features - 1);
        laws.push_back({0, options.inflow * share, options.inflow});
    }
    return laws;
}

double after_release(double level, double release) {
    return (1 - release) * level;
}

/// Law of the cell of min(1, kept + W).
void add_cells(const Grid& grid, const TriangularLaw& inflow, double kept, CellMasses& law) {
    const GridAxis& axis = grid.axes().front();
    const double first = kept + inflow.lower;
    double below = 0;  // chance of ending below the cell
    for (State cell = grid.cell_of({&first, 1}); cell < grid.cells(); ++cell) {
        const bool last = cell + 1 == grid.cells();  // spilling ends in the last cell
        const double up_to = last ? 1.0 : inflow.distribution(axis.edge(cell + 1) - kept);
        law.add(cell, std::max(0.0, up_to - below));
        below = up_to;
        if (below >= 1) return;
    }
}

std::vector<NamedReward> natural_rewards(const Reservoir& reservoir, const Shape& shape) {
    std::vector<double> supply, safe, steady;
    const double most = reservoir.release(shape.actions - 1);
    for (State cell = 0; cell < shape.states; ++cell) {
        const double level = reservoir.grid().centre(cell).front();
        for (Action a = 0; a < shape.actions; ++a) {
            supply.push_back(std::min(1.0, reservoir.release(a) * level / most));
            safe.push_back(level <= 0.9 ? 1.0 : 0.0);
            steady.push_back(std::max(0.0, 1 - 2 * std::abs(level - 0.5)));
        }
    }
    return {
        {"supply", "Water released, as a share of the most that can be.", Reward(shape, std::move(supply))},
        {"no-flood", "One for each step that begins with a level of at most 0.9.",
         Reward(shape, std::move(safe))},
        {"steady", "One at half full, falling to zero at empty and full.", Reward(shape, std::move(steady))}};
}

}  // namespace

double TriangularLaw::distribution(double x) const {
    if (x <= lower) return 0;
    if (x >= upper) return 1;
    if (x < mode) return (x - lower) * (x - lower) / ((upper - lower) * (mode - lower));
    return 1 - (upper - x) * (upper - x) / ((upper - lower) * (upper - mode));
}

double TriangularLaw::quantile(double u) const {
    if (u * (upper - lower) < mode - lower) return lower + std::sqrt(u * (upper - lower) * (mode - lower));
    return upper - std::sqrt((1 - u) * (upper - lower) * (upper - mode));
}

Reservoir::Reservoir(const ReservoirOptions& options)
    : options_(checked(options)), grid_({{0, 1, options_.cells}}), inflows_(inflow_laws(options_)) {}

double Reservoir::release(Action a) const {
    return static_cast<double>(a + 1) / static_cast<double>(options_.actions + 1);
}

std::vector<std::string> Reservoir::inflow_names() const {
    std::vector<std::string> names;
    for (const TriangularLaw& law : inflows_) names.push_back(fmt::format("peak at {:.4g}", law.mode));
    return names;
}

std::vector<BaseLaw> Reservoir::laws() const {
    std::vector<BaseLaw> bases;
    const std::vector<std::string> names = inflow_names();
    for (std::size_t i = 0; i < inflows_.size(); ++i) {
        bases.push_back(
            {names[i], [reservoir = *this, i](std::span<const double> state, Action a, CellMasses& law) {
                 add_cells(reservoir.grid_, reservoir.inflows_[i],
                           after_release(state[0], reservoir.release(a)), law);
             }});
    }
    return bases;
}

std::vector<Simulator> Reservoir::simulators() const {
    std::vector<Simulator> result;
    for (const TriangularLaw& inflow : inflows_) {
        result.emplace_back([reservoir = *this, inflow](std::span<const double> state, Action a,
                                                        Stream& random, std::span<double> next) {
            const double kept = after_release(state[0], reservoir.release(a));
            next[0] = std::min(1.0, kept + inflow.quantile(sample_uniform(random)));
        });
    }
    return result;
}

double Reservoir::misspecification() const {
    const double width = grid_.axes().front().width();
    double worst = 0;
    for (const TriangularLaw& inflow : inflows_)
        worst = std::max(worst, shift_variation(1 - release(0), width / 2, inflow.variation()));
    return worst;
}

Problem Reservoir::problem(std::optional<Matrix> truth) const {
    // Borders are among the averaged points: what is reachable from a level is reachable in the model.
    const std::vector<BaseLaw> bases = laws();
    const Aggregation aggregation = aggregate(grid_, options_.actions, bases, {.points = 3, .probes = 0});
    ProblemDescription parts;
    parts.name = "reservoir";
    parts.features = aggregation.features;
    parts.horizon = options_.horizon;
    parts.start = StartLaw(grid_.cell_of({&options_.start_level, 1}));
    parts.misspecification = misspecification();
    expects(parts.misspecification < 1,
            "a reservoir of {} cells with inflows up to {} has the misspecification {}, so its grid says "
            "nothing; use more cells",
            options_.cells, options_.inflow, parts.misspecification);
    parts.truth = std::move(truth);
    for (State cell = 0; cell < grid_.cells(); ++cell)
        parts.state_names.push_back(fmt::format("level {:.5g}", grid_.centre(cell).front()));
    for (Action a = 0; a < options_.actions; ++a)
        parts.action_names.push_back(fmt::format("release {:.4g}", release(a)));
    parts.rewards = natural_rewards(*this, {grid_.cells(), options_.actions, options_.horizon});
    return Problem(std::move(parts));
}

}  // namespace alidade::detail
