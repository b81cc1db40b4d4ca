#pragma once

#include <limits>

#include "alidade/types.hpp"

namespace alidade::detail {

/// A convex function of convex weights about a point.
struct ConvexExpansion {
    double value = 0;
    double doubt = 0;  ///< the true value is at least `value` less this, which rounding may have added
    Vector gradient;   ///< up to a multiple of (1, ..., 1), which no difference of weights sees
    double gradient_doubt = 0;  ///< the same for each of its elements, either way
    Matrix curvature;           ///< lower triangle of the second derivatives
};

class ConvexFunction {
public:
    ConvexFunction() = default;
    ConvexFunction(const ConvexFunction&) = delete;
    ConvexFunction& operator=(const ConvexFunction&) = delete;
    virtual ~ConvexFunction() = default;

    /// At weights that are all positive.
    virtual double value(const Vector& weights) const = 0;
    virtual void expand(const Vector& weights, ConvexExpansion& about) const = 0;
};

/// What the expansion proves: no weights have a lower value. By convexity f(theta) >= f(theta0) + grad .
/// (theta - theta0), and the least of grad . theta over the simplex is at a vertex.
double lower_bound(const ConvexExpansion& about, const Vector& weights);

struct SimplexMinimumOptions {
    double tolerance = 0.01;  ///< the search ends when value and lower bound are as near
    Index steps = 60;         ///< at most so many Newton steps
    /// The search also ends where the value is below this: who wants to know whether the minimum is large has
    /// his answer.
    double enough = -std::numeric_limits<double>::infinity();
};

struct SimplexMinimum {
    Vector weights;    ///< where the search ended, all positive
    double value = 0;  ///< there
    double lower = 0;  ///< no weights have a lower value: proved by convexity, whatever the search did
};

/// Minimises by Newton's method with a barrier, from `start` (positive weights that sum to one).
SimplexMinimum minimise(const ConvexFunction& function, const Vector& start,
                        const SimplexMinimumOptions& options = {});

}  // namespace alidade::detail
