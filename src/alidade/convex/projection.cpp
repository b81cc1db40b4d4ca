#include "alidade/convex/projection.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "nearest_point.hpp"
#include "polytope_projection.hpp"
#include "triangular.hpp"

namespace alidade {

namespace {

/// Makes the point feasible exactly: rounding may leave -1e-17, and of an estimate 1e16 away no digit.
void make_feasible(Vector& weights, const Vector& estimate) {
    weights = weights.cwiseMax(0.0);
    const double sum = weights.sum();
    if (sum > 0) {
        weights /= sum;
    } else {
        Index largest = 0;
        estimate.maxCoeff(&largest);
        weights.setZero();
        weights[largest] = 1;
    }
}

Projection onto_convex_weights(const TangentSpace& space, const Vector& coordinates, const Matrix& factor) {
    Projection result;
    const Vector estimate = space.weights(coordinates);
    // An estimate in the simplex is its own projection.
    if (space.dimension() == 0 || estimate.minCoeff() >= 0) {
        result.weights = estimate;
        make_feasible(result.weights, estimate);
    } else {
        // With z = factor' (zeta - estimate) the metric is Euclidean and theta_i >= 0 has normal
        // factor^-1 (row i of the basis) and offset -estimate_i.
        detail::NearestPoint nearest(space.dimension());
        nearest.reserve(estimate.size());
        const Vector reciprocals = factor.diagonal().cwiseInverse();
        Vector shift(space.dimension());
        for (Index i = 0; i < estimate.size(); ++i) {
            shift = space.basis.row(i);
            detail::forward_substitute(factor, reciprocals.data(), shift.data());
            nearest.add(shift, -estimate[i]);
        }
        // The simplex is not empty, so a contradiction is rounding.
        while (nearest.solve() == detail::NearestStatus::infeasible) nearest.ignore(nearest.offender());
        shift = nearest.point();
        detail::back_substitute(factor, shift.data());
        result.weights.noalias() = estimate + space.basis.lazyProduct(shift);
        // Constraints that bind hold with equality, whatever the substitution left of them.
        for (const Index i : nearest.active_set()) result.weights[i] = 0;
        result.active = static_cast<Index>(nearest.active_set().size());
        make_feasible(result.weights, estimate);
    }
    result.coordinates.noalias() = space.basis.transpose().lazyProduct(result.weights - space.centre);
    Vector offset = coordinates - result.coordinates;
    // By the factor: with the precision itself, rounding would be that of its largest entries.
    result.residual = detail::whiten(factor, offset.data());
    detail::colour(factor, offset.data());
    // Linear in the member, so a vertex of the simplex is the worst: the gap is exact for the point at hand,
    // whether or not the search ended where it should [theory §3a].
    const Vector gradient = space.basis.lazyProduct(offset);
    // max over vertices e_i of <Lambda (estimate - point), e_i - point>
    result.gap = std::max(gradient.maxCoeff() - gradient.dot(result.weights), 0.0);
    result.kkt_residual = result.gap / (1 + gradient.cwiseAbs().maxCoeff());
    return result;
}

}  // namespace

Projection project(const ParameterSet& parameters, const Vector& coordinates, const Matrix& factor) {
    const TangentSpace& space = parameters.space();
    expects(coordinates.size() == space.dimension(), "estimate has {} coordinates; must have {}",
            coordinates.size(), space.dimension());
    expects(factor.rows() == coordinates.size() && factor.cols() == coordinates.size(),
            "factor is {} x {}; must be {} x {}", factor.rows(), factor.cols(), coordinates.size(),
            coordinates.size());
    expects(coordinates.allFinite(), "estimate has coordinates that are not finite; all must be");
    expects(parameters.kind() != ParameterSetKind::ball,
            "projection onto the ball is not available; use the polytope of the features");
    Projection result = parameters.kind() == ParameterSetKind::polytope
                            ? detail::project_onto_polytope(parameters, coordinates, factor)
                            : onto_convex_weights(space, coordinates, factor);
    // Also where a squared distance overflows: residual and gap must be numbers to claim anything.
    expects(std::isfinite(result.residual) && std::isfinite(result.gap),
            "estimate of norm {:.4g} in the metric of a factor of norm {:.4g} has residual {} and gap {}; "
            "all must be finite",
            coordinates.norm(), factor.norm(), result.residual, result.gap);
    return result;
}

}  // namespace alidade
