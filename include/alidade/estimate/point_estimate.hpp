#pragma once

#include "alidade/types.hpp"

namespace alidade {

/// An estimate in tangent coordinates and the metric in which its error is bounded, however both came about:
/// the centre and the shape of an ellipsoid.
struct PointEstimate {
    Vector coordinates;     ///< zeta hat, p numbers
    Matrix precision;       ///< Lambda, symmetric, positive definite
    Matrix factor;          ///< its lower Cholesky factor
    Matrix inverse_factor;  ///< of which the inverse, lower triangular: |inverse_factor x| is the dual norm
    /// What rounding may have changed: with M the exact precision and L the factor, L L' <= (1 +
    /// metric_error) M. Tiny unless some directions are known very much better than others.
    double metric_error = 0;
};

/// The estimate with the precision (symmetric, positive definite) of the ellipsoid about it: factors and
/// their rounding. Throws BrokenInvariant if it is not positive definite.
PointEstimate estimate_with(Vector coordinates, Matrix precision);

}  // namespace alidade
