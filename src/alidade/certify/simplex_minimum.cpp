#include "simplex_minimum.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "../model/difference_basis.hpp"

namespace alidade::detail {

namespace {

double barrier_value(const Vector& weights, double barrier) {
    return -barrier * weights.array().log().sum();
}

/// The Newton direction of the function with its barrier; empty where there is none. `decrement` is what a
/// full step promises, twice.
Vector newton_direction(const ConvexExpansion& about, const Vector& weights, double barrier,
                        double& decrement) {
    const Matrix basis = difference_basis(weights);
    Matrix curvature = about.curvature.selfadjointView<Eigen::Lower>();
    curvature.diagonal().array() += barrier / weights.array().square();
    const Vector slope = basis.transpose() * (about.gradient - (barrier / weights.array()).matrix());
    const Eigen::LLT<Matrix> factor(basis.transpose() * curvature * basis);
    if (factor.info() != Eigen::Success) return {};
    const Vector direction = -factor.solve(slope);
    decrement = -slope.dot(direction);
    if (!(decrement > 0) || !std::isfinite(decrement)) return {};
    return basis * direction;
}

}  // namespace

double lower_bound(const ConvexExpansion& about, const Vector& weights) {
    // The weights sum to one up to rounding, which multiplies the gradient's size; it is in the doubt.
    const double mean = about.gradient.dot(weights) / weights.sum();
    return about.value - about.doubt + (about.gradient.minCoeff() - mean) - 2 * about.gradient_doubt;
}

SimplexMinimum minimise(const ConvexFunction& function, const Vector& start,
                        const SimplexMinimumOptions& options) {
    const Index d = start.size();
    // Away from the faces, where a barrier's steps are short; a twentieth is made up for in a few of them.
    SimplexMinimum best{0.95 * start + Vector::Constant(d, 0.05 / static_cast<double>(d)), 0,
                        -std::numeric_limits<double>::infinity()};
    Vector& weights = best.weights;
    const double barrier = options.tolerance / (4 * static_cast<double>(d));
    ConvexExpansion about;
    for (Index step = 0; step <= options.steps; ++step) {
        function.expand(weights, about);
        best.value = about.value;
        best.lower = std::max(best.lower, lower_bound(about, weights));
        if (d == 1 || best.value - best.lower <= options.tolerance || best.value < options.enough ||
            step == options.steps)
            break;
        double decrement = 0;
        const Vector direction = newton_direction(about, weights, barrier, decrement);
        if (direction.size() == 0 || decrement < 1e-14) break;
        double length = 1;
        for (Index i = 0; i < d; ++i)
            if (direction[i] < 0) length = std::min(length, -0.99 * weights[i] / direction[i]);
        const double here = about.value + barrier_value(weights, barrier);
        bool moved = false;
        for (int tries = 0; tries < 40 && !moved; ++tries, length /= 2) {
            const Vector there = weights + length * direction;
            moved = function.value(there) + barrier_value(there, barrier) <= here - 0.1 * length * decrement;
            if (moved) weights = there;
        }
        if (!moved) break;
        weights = weights.cwiseMax(1e-300);
        weights /= weights.sum();
    }
    return best;
}

}  // namespace alidade::detail
