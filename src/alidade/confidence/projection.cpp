#include "alidade/confidence/projection.hpp"

#include <algorithm>
#include <utility>

#include "alidade/error.hpp"
#include "nearest_point.hpp"
#include "polytope_projection.hpp"

namespace alidade {

namespace {

/// Makes the point feasible exactly: rounding may leave -1e-17.
Vector onto_simplex(Vector weights) {
    weights = weights.cwiseMax(0.0);
    return weights / weights.sum();
}

Projection onto_convex_weights(const TangentSpace& space, const Vector& coordinates, const Matrix& factor) {
    Projection result;
    const Vector estimate = space.weights(coordinates);
    if (space.dimension() == 0 || estimate.minCoeff() >= 0) {
        result.weights = onto_simplex(estimate);
    } else {
        // With z = factor' (zeta - estimate) the metric is Euclidean and theta_i >= 0 has normal
        // factor^-1 (row i of the basis) and offset -estimate_i.
        const Matrix normals = factor.triangularView<Eigen::Lower>().solve(space.basis.transpose());
        detail::NearestPoint nearest(space.dimension());
        nearest.add(normals, -estimate);
        // The simplex is not empty, so a contradiction is rounding.
        while (nearest.solve() == detail::NearestStatus::infeasible) nearest.ignore(nearest.offender());
        const Vector shift = factor.transpose().triangularView<Eigen::Upper>().solve(nearest.point());
        Vector weights = space.weights(coordinates + shift);
        for (const Index i : nearest.active_set()) weights[i] = 0;
        result.active = static_cast<Index>(nearest.active_set().size());
        result.weights = onto_simplex(std::move(weights));
    }
    result.coordinates = space.coordinates(result.weights);
    const Vector offset = coordinates - result.coordinates;
    // By the factor: with the precision itself, rounding would be that of its largest entries.
    const Vector whitened = factor.transpose().triangularView<Eigen::Upper>() * offset;
    const Vector gradient = space.basis * (factor.triangularView<Eigen::Lower>() * whitened);
    result.residual = whitened.norm();
    // max over vertices e_i of <Lambda (estimate - point), e_i - point>
    result.gap = std::max(0.0, gradient.maxCoeff() - gradient.dot(result.weights));
    result.kkt_residual = result.gap / (1 + gradient.cwiseAbs().maxCoeff());
    return result;
}

}  // namespace

Projection project(const ParameterSet& parameters, const Vector& coordinates, const Matrix& factor) {
    const TangentSpace& space = parameters.space();
    expects(coordinates.size() == space.dimension(), "estimate has {} coordinates; must have {}",
            coordinates.size(), space.dimension());
    expects(coordinates.allFinite(), "estimate has coordinates that are not finite; all must be");
    expects(parameters.kind() != ParameterSetKind::ball,
            "projection onto the ball is not available; use the polytope of the features");
    if (parameters.kind() == ParameterSetKind::polytope)
        return detail::project_onto_polytope(parameters, coordinates, factor);
    return onto_convex_weights(space, coordinates, factor);
}

}  // namespace alidade
