#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/grid.hpp"
#include "alidade/types.hpp"

/// From continuous base models and a grid to base kernels over its cells [theory §1.1, infinite S]. The true
/// law from a point differs from that of its cell by some total variation; `ProblemDescription` carries a
/// bound of it as `misspecification`, and certificates are valid only if it is one.
namespace alidade {

/// A law over cells in the making: masses are added cell by cell.
class CellMasses {
public:
    explicit CellMasses(Index cells) : masses_(static_cast<std::size_t>(cells), 0.0) {}

    /// Adds a mass >= 0 to a cell. Throws InvalidArgument if either is out of range.
    void add(State cell, double mass);
    double at(State cell) const noexcept { return masses_[static_cast<std::size_t>(cell)]; }
    /// Cells with a positive mass, ascending once `sort` was called.
    const std::vector<State>& cells() const noexcept { return touched_; }
    void sort();
    double total() const;
    void clear();

private:
    std::vector<double> masses_;
    std::vector<State> touched_;
};

/// Adds to `law` the law of the next cell after `action` from the point `state`, of total mass one.
using CellLaw = std::function<void(std::span<const double> state, Action action, CellMasses& law)>;

/// One base model over a continuous state whose cell law can be computed.
struct BaseLaw {
    std::string name;
    CellLaw law;
};

/// A value of the disturbance and its weight.
struct DisturbanceNode {
    std::vector<double> value;
    double weight = 0;  ///< positive; a base model's weights sum to one within 1e-9
};

/// The next point after `action` from `state` under a disturbance; `next` is as long as `state`.
using NextState = std::function<void(std::span<const double> state, Action action,
                                     std::span<const double> disturbance, std::span<double> next)>;

/// The cell law of a disturbance that takes finitely many values, or of a quadrature rule for others: the sum
/// over the nodes. If the nodes stand for a continuous disturbance, the rule's own error is not in anything
/// that `aggregate` reports.
CellLaw quadrature(const Grid& grid, NextState next, std::vector<DisturbanceNode> nodes);

/// What an aggregation is made of.
struct Aggregation {
    SharedFeatures features;
    /// Largest total variation between the law of a cell and that from a probe point in it, over base models
    /// and actions: at most the true misspecification, so a lower estimate. Zero where nothing was probed.
    double probed = 0;
    /// Bound of the total variation by which sampling and smoothing moved the law of any cell away from the
    /// average over the cell's points: to be added to a proved bound for these.
    double law_error = 0;
    /// Probability that `law_error` fails; to be added to delta. Zero unless sampled.
    double failure_probability = 0;
};

struct AggregationOptions {
    /// The law of a cell is the average over so many points an axis (Grid::points). One: its centre. With two
    /// or more the corners take part, so that what can be reached from the border can be reached.
    Index points = 3;
    Index probes = 3;      ///< probe points an axis, borders included; zero: none
    double smoothing = 0;  ///< share in [0, 1) of a uniform law over all cells, mixed into every row
};

/// Base kernels over the cells of the grid. Throws InvalidArgument naming base model, cell and action of the
/// first law that does not sum to one within 1e-9.
Aggregation aggregate(const Grid& grid, Index actions, std::span<const BaseLaw> bases,
                      const AggregationOptions& options = {});

/// One base model over a continuous state that can only be simulated.
struct BaseSimulator {
    std::string name;
    Simulator simulate;
};

struct SamplingOptions {
    std::int64_t samples = 10'000;  ///< draws for every base model, cell and action, >= 1
    bool from_centre = false;       ///< draw from the cell's centre instead of uniformly in it
    double failure = 1e-3;          ///< probability that `law_error` fails, all rows together, in (0, 1)
    /// A cell that no draw reached would be impossible in the model, and exploration would take reaching it
    /// for a contradiction; this share in [0, 1) of a uniform law over all cells makes every cell possible.
    double smoothing = 0;
    std::uint64_t seed = 0;  ///< row (base, pair) draws from Stream(seed, aggregation, base, pair)
};

/// The same by Monte Carlo: empirical laws, which `law_error` holds against the true averages
/// (sampled_law_error over all rows, plus smoothing).
Aggregation aggregate_samples(const Grid& grid, Index actions, std::span<const BaseSimulator> bases,
                              const SamplingOptions& options = {});

// How far the law of a continuous system is from that of its grid, as formulas [theory §1.1].

/// Largest total variation between the laws of (the cell of) g(s) + W and g(t) + W for numbers s, t at most
/// `distance` apart, g with Lipschitz constant `slope`, and W with a density f of total variation `variation`
/// (2 max f if f has one peak, jumps at the ends of its support included).
/// The laws before clamping and binning differ by (1/2) int |f(w) - f(w - c)| dw <= c variation / 2 with
/// c = |g(s) - g(t)| <= slope * distance, and no map of the outcome makes them differ more. In [0, 1].
double shift_variation(double slope, double distance, double variation);

/// With probability 1 - failure, none of `laws` empirical laws is farther than this, in total variation, from
/// the mean of the laws that its `samples` independent draws came from, each over at most `cells` cells:
///     sqrt((cells - 1) / samples) / 2 + sqrt(log(laws / failure) / (2 samples)).
/// The first term bounds the mean (Cauchy-Schwarz over the standard deviations of the cells), the second the
/// excess over it (McDiarmid: one draw moves the distance by at most 1 / samples). In [0, 1].
double sampled_law_error(std::int64_t samples, Index cells, Index laws, double failure);

}  // namespace alidade
