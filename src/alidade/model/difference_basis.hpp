#pragma once

#include "alidade/types.hpp"

namespace alidade::detail {

/// Differences to the base model with the largest weight, d x (d-1). Metrics of weights that range over many
/// magnitudes are accurate in these coordinates: scaling the diagonal makes them well conditioned, which no
/// scaling does in an orthonormal basis. The squared volume of the basis is d.
inline Matrix difference_basis(const Vector& weights) {
    const Index d = weights.size();
    Index largest = 0;
    weights.maxCoeff(&largest);
    Matrix basis = Matrix::Zero(d, d - 1);
    for (Index i = 0, column = 0; i < d; ++i) {
        if (i == largest) continue;
        basis(i, column) = 1;
        basis(largest, column++) = -1;
    }
    return basis;
}

}  // namespace alidade::detail
