#pragma once

#include "alidade/model/parameter_set.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The point of a parameter set nearest to an estimate in the metric of a precision matrix.
struct Projection {
    Vector weights;           ///< theta~, feasible: non-negative and summing to one for the simplex,
                              ///< probabilities of at least -violation for the polytope
    Vector coordinates;       ///< of `weights` in the tangent space
    double residual = 0;      ///< r = |estimate - weights| in the metric
    double gap = 0;           ///< eta >= 0: most by which a member beats it to first order [theory §3a]
    double kkt_residual = 0;  ///< gap relative to 1 + |gradient| and the set's size: how optimal it is
    double violation = 0;     ///< most by which a probability is negative; at most 1e-12 of the scale
    Index active = 0;         ///< constraints that bind
};

/// Projects centre + basis * `coordinates` onto the parameter set in the norm of the precision with lower
/// Cholesky factor `factor` (p x p, in tangent coordinates) by a dual active-set method. Whatever the method
/// did, `residual` and `gap` are measured at the point returned, so that the radius
/// sqrt(beta^2 - residual^2 + 2 gap) is rigorous. The point is a member: for the polytope of general features
/// |theta| <= B as well. Throws InvalidArgument if there is no member, naming the state, action and successor
/// whose probability must be negative, or the least norm that weights can have.
Projection project(const ParameterSet& parameters, const Vector& coordinates, const Matrix& factor);

}  // namespace alidade
