#pragma once

#include <Eigen/Cholesky>
#include <cmath>

#include "alidade/types.hpp"

namespace alidade::detail {

/// Of a positive definite matrix.
inline double log_determinant(const Matrix& matrix) {
    const Eigen::LLT<Matrix> cholesky(matrix);
    double sum = 0;
    for (Index i = 0; i < matrix.rows(); ++i) sum += 2 * std::log(cholesky.matrixLLT()(i, i));
    return sum;
}

}  // namespace alidade::detail
