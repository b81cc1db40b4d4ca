#pragma once

#include <cmath>

#include "alidade/random/samplers.hpp"
#include "alidade/types.hpp"
#include "support/dense_algebra.hpp"

namespace alidade::support {

/// A symmetric p x p matrix with random eigenvectors and eigenvalues from 1 to 10^decades, both attained.
inline Matrix random_metric(Stream& random, Index p, double decades) {
    Vector values(p);
    for (Index i = 0; i < p; ++i)
        values[i] = std::pow(10.0, i == 0 ? 0 : (i == 1 ? decades : decades * sample_uniform(random)));
    Matrix metric = values.asDiagonal();
    for (Index k = 0; k < p; ++k) {
        Vector normal(p);
        for (Index i = 0; i < p; ++i) normal[i] = sample_normal(random);
        normal.normalize();
        metric -= 2 * normal * (normal.transpose() * metric);
        metric -= 2 * (metric * normal) * normal.transpose();
    }
    return (metric + metric.transpose()) / 2;
}

/// Lower Cholesky factor.
inline Matrix lower_factor(const Matrix& metric) {
    return cholesky(metric);
}

}  // namespace alidade::support
