#pragma once

#include <cstdint>

#include "alidade/estimate/point_estimate.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Sufficient statistics of one step's value-targeted regression in tangent coordinates: rows
/// x = psi_V(s,a) with target V(s') minus what the centre predicts. V must have been fixed before s'
/// was seen; that alone makes the radius valid [theory §3g, §3i].
struct RidgeStatistics {
    Matrix gram;                    ///< sum of x x', p x p
    Vector moment;                  ///< sum of x * (V(s') - theta_0 . phi_V)
    std::int64_t observations = 0;  ///< rows summed
    /// At least the error, in norm, that rounding has brought into `gram`, and likewise into `moment`.
    double rounding = 0;

    explicit RidgeStatistics(Index dimension = 0)
        : gram(Matrix::Zero(dimension, dimension)), moment(Vector::Zero(dimension)) {}

    Index dimension() const noexcept { return moment.size(); }

    /// Adds `repeats` observations of one feature whose residual targets sum to `residuals`.
    /// Only the lower triangle of `gram` is kept up.
    void add(const double* feature, std::int64_t repeats, double residuals);
};

/// The ridge estimate about the prior centre: the minimiser, with Lambda = lambda I + gram.
struct RidgeEstimate : PointEstimate {
    double log_det_ratio = 0;  ///< log det(Lambda) - log det(lambda I), from the factor
    /// As metric_error: with M the exact precision, z the exact estimate and L the factor,
    ///   log det M <= log det(L L') + log_det_error,  |zeta - z|_M <= shift.
    double log_det_error = 0;
    double shift = 0;  ///< see log_det_error
};

/// Solves the regularised normal equations. Requires regularisation > 0. Throws BrokenInvariant if the
/// precision is not positive definite (then the statistics are damaged).
RidgeEstimate solve_ridge(const RidgeStatistics& statistics, double regularisation);

/// log det(lambda I + gram) - log det(lambda I) alone.
double log_det_ratio(const RidgeStatistics& statistics, double regularisation);

}  // namespace alidade::detail
