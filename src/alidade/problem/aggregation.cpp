#include "alidade/problem/aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "families/kernel_set.hpp"

namespace alidade {
namespace {

template <class Base>
std::vector<std::string> names_of(std::span<const Base> bases) {
    std::vector<std::string> names;
    for (const Base& base : bases) names.push_back(base.name);
    return names;
}

void check_sizes(Index actions, std::size_t bases, double smoothing) {
    expects(actions >= 1 && bases >= 1, "an aggregation of {} base models over {} actions; it needs both",
            bases, actions);
    expects(smoothing >= 0 && smoothing < 1, "smoothing is {}; it must be at least 0 and less than 1",
            smoothing);
}

/// Total variation of two laws whose masses sum to one: the mass that the first has and the second has not.
double variation(const CellMasses& one, const CellMasses& two) {
    double distance = 0;
    for (const State cell : one.cells()) distance += std::max(0.0, one.at(cell) - two.at(cell));
    return std::min(1.0, distance);
}

/// Puts a law of the given total mass into the current row of a base model, less the share for smoothing.
void add_row(detail::KernelSet& kernels, Index base, Index cells, CellMasses& law, double total,
             double smoothing) {
    law.sort();
    for (const State cell : law.cells()) kernels.add(base, cell, (1 - smoothing) * (law.at(cell) / total));
    if (smoothing == 0) return;
    for (State cell = 0; cell < cells; ++cell)
        kernels.add(base, cell, smoothing / static_cast<double>(cells));
}

/// The law of one base model from one point, checked.
void law_from(const BaseLaw& base, std::span<const double> point, State cell, Action a, CellMasses& law) {
    law.clear();
    base.law(point, a, law);
    const double total = law.total();
    expects(
        std::abs(total - 1) <= 1e-9,
        "base model \"{}\": the law of the next cell from cell {} after action {} sums to {}; it must sum "
        "to 1 within 1e-9",
        base.name, cell, a, total);
}

/// The average of the laws from the given points.
void average_law(const BaseLaw& base, const std::vector<std::vector<double>>& points, State cell, Action a,
                 CellMasses& scratch, CellMasses& law) {
    law.clear();
    const double share = 1 / static_cast<double>(points.size());
    for (const std::vector<double>& point : points) {
        law_from(base, point, cell, a, scratch);
        for (const State next : scratch.cells()) law.add(next, share * scratch.at(next));
    }
}

}  // namespace

void CellMasses::add(State cell, double mass) {
    expects(cell >= 0 && cell < std::ssize(masses_), "mass for cell {}; the grid has {} cells", cell,
            masses_.size());
    expects(mass >= 0 && std::isfinite(mass), "mass {} for cell {}; it must be at least 0 and finite", mass,
            cell);
    if (mass == 0) return;
    double& sum = masses_[static_cast<std::size_t>(cell)];
    if (sum == 0) touched_.push_back(cell);
    sum += mass;
}

void CellMasses::sort() {
    std::ranges::sort(touched_);
}

double CellMasses::total() const {
    double sum = 0;
    for (const State cell : touched_) sum += at(cell);
    return sum;
}

void CellMasses::clear() {
    for (const State cell : touched_) masses_[static_cast<std::size_t>(cell)] = 0;
    touched_.clear();
}

CellLaw quadrature(const Grid& grid, NextState next, std::vector<DisturbanceNode> nodes) {
    double total = 0;
    for (const DisturbanceNode& node : nodes) {
        expects(node.weight > 0, "a quadrature node has the weight {}; it must be above 0", node.weight);
        total += node.weight;
    }
    expects(std::abs(total - 1) <= 1e-9, "the weights of {} quadrature nodes sum to {}; they must sum to 1",
            nodes.size(), total);
    return [grid, next = std::move(next), nodes = std::move(nodes)](std::span<const double> state, Action a,
                                                                    CellMasses& law) {
        std::vector<double> reached(state.size());
        for (const DisturbanceNode& node : nodes) {
            next(state, a, node.value, reached);
            law.add(grid.cell_of(reached), node.weight);
        }
    };
}

Aggregation aggregate(const Grid& grid, Index actions, std::span<const BaseLaw> bases,
                      const AggregationOptions& options) {
    check_sizes(actions, bases.size(), options.smoothing);
    expects(options.probes >= 0, "{} probe points an axis; must not be negative", options.probes);
    detail::KernelSet kernels(grid.cells(), actions, names_of(bases), 0);
    CellMasses average(grid.cells()), law(grid.cells());
    Aggregation result;
    for (State cell = 0; cell < grid.cells(); ++cell) {
        const auto points = grid.points(cell, options.points);
        const auto probes =
            options.probes == 0 ? std::vector<std::vector<double>>{} : grid.points(cell, options.probes);
        for (Action a = 0; a < actions; ++a) {
            for (std::size_t i = 0; i < bases.size(); ++i) {
                average_law(bases[i], points, cell, a, law, average);
                for (const std::vector<double>& probe : probes) {
                    law_from(bases[i], probe, cell, a, law);
                    result.probed = std::max(result.probed, variation(law, average));
                }
                add_row(kernels, static_cast<Index>(i), grid.cells(), average, 1, options.smoothing);
            }
            kernels.end_pair();
        }
    }
    result.features = kernels.features();
    result.law_error = options.smoothing;
    return result;
}

Aggregation aggregate_samples(const Grid& grid, Index actions, std::span<const BaseSimulator> bases,
                              const SamplingOptions& options) {
    check_sizes(actions, bases.size(), options.smoothing);
    const Index rows = grid.cells() * actions * std::ssize(bases);
    Aggregation result;
    result.law_error = std::min(
        1.0, sampled_law_error(options.samples, grid.cells(), rows, options.failure) + options.smoothing);
    result.failure_probability = options.failure;
    detail::KernelSet kernels(grid.cells(), actions, names_of(bases), 0);
    CellMasses law(grid.cells());
    std::vector<double> next(static_cast<std::size_t>(grid.dimensions()));
    for (State cell = 0; cell < grid.cells(); ++cell) {
        const std::vector<Interval> box = grid.bounds(cell);
        std::vector<double> from = grid.centre(cell);
        for (Action a = 0; a < actions; ++a) {
            for (std::size_t i = 0; i < bases.size(); ++i) {
                Stream random(options.seed, Purpose::aggregation, i,
                              static_cast<std::uint64_t>(cell * actions + a));
                law.clear();
                for (std::int64_t k = 0; k < options.samples; ++k) {
                    for (std::size_t j = 0; j < from.size() && !options.from_centre; ++j)
                        from[j] = box[j].lower + sample_uniform(random) * (box[j].upper - box[j].lower);
                    bases[i].simulate(from, a, random, next);
                    law.add(grid.cell_of(next), 1);
                }
                add_row(kernels, static_cast<Index>(i), grid.cells(), law,
                        static_cast<double>(options.samples), options.smoothing);
            }
            kernels.end_pair();
        }
    }
    result.features = kernels.features();
    return result;
}

}  // namespace alidade
