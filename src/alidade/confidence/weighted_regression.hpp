#pragma once

#include <span>
#include <vector>

#include "../estimate/ridge_regression.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/width/width.hpp"
#include "value_regression.hpp"

namespace alidade::detail {

/// What was seen of one set's transitions, each weighted by how uncertain its target was.
struct WeightedStatistics {
    /// Rows psi_V / sigma, residuals divided by sigma.
    RidgeStatistics rows;
    double inverse_variances = 0;  ///< sum of 1/sigma^2 over the rows
    /// Of every pair the least sigma^2 that a row of its had; infinite if it has none.
    std::vector<double> least_variance;

    WeightedStatistics(Index dimension, Index pairs);

    /// Adds `repeats` observations of one feature, whose residuals sum to `residuals`, with that sigma^2.
    void add(Index pair, std::span<const double> feature, std::int64_t repeats, double residuals,
             double variance);
};

/// Value-targeted regression with rows weighted by the inverse of a bound of their targets' variance: the
/// idea of the paper's Algorithm 2, as a confidence set [docs/algorithms/bernstein.md]. Bounds of variances
/// come from a coarse set, the regression without weights, which has half of delta; the other half is for the
/// weighted one. Its sets are what both have in common.
class WeightedRegression {
public:
    /// No row's variance counts as less, or one row could outweigh any number of others.
    static constexpr double least_variance = 1.0 / 2000;

    /// delta: of both regressions.
    explicit WeightedRegression(const ValueRegression::Setting& setting);

    const ValueRegression& coarse() const noexcept { return coarse_; }
    /// sigma^2 for a target V(s'), V in {0,1}, of a pair with phi_V: the largest variance that the coarse set
    /// leaves possible, and what the misspecification may add. Known before the transition is seen.
    double variance(const ConfidenceSet& coarse, std::span<const double> phi_v) const;

    /// The same for any V in [0,1], by phi of (V - c)^2: no variance is larger than the mean of that,
    /// whatever c in [0,1] is.
    double variance_about(const ConfidenceSet& coarse, std::span<const double> phi_square) const;
    double regularisation() const noexcept { return regularisation_; }

    /// The sets of both, one for each element of `statistics`. Throws ModelContradiction if they have no
    /// member in common.
    std::vector<ConfidenceSet> solve(std::span<const RegressionSet> coarse,
                                     std::span<const WeightedStatistics> statistics,
                                     const WidthOptions& widths, Threads threads) const;

    /// Of every set the inverse factor of the weighted metric.
    std::vector<Matrix> metrics(std::span<const WeightedStatistics> statistics) const;

private:
    /// At least the largest |x| / sigma of the rows, by the widths of their pairs.
    double leverage(const WeightedStatistics& statistics, std::span<const double> widths) const;

    double delta_;  // of the weighted regression
    ValueRegression coarse_;
    double regularisation_;
};

}  // namespace alidade::detail
