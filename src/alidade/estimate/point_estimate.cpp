#include "alidade/estimate/point_estimate.hpp"

#include <Eigen/Cholesky>
#include <limits>
#include <utility>

#include "alidade/error.hpp"
#include "factoring.hpp"

namespace alidade {

namespace detail {

Matrix inverse_of_lower(const Matrix& factor) {
    const Index p = factor.rows();
    Matrix inverse = Matrix::Zero(p, p);
    for (Index j = 0; j < p; ++j) {
        inverse(j, j) = 1 / factor(j, j);
        for (Index i = j + 1; i < p; ++i) {
            double sum = 0;
            for (Index k = j; k < i; ++k) sum += factor(i, k) * inverse(k, j);
            inverse(i, j) = -sum / factor(i, i);
        }
    }
    return inverse;
}

double factoring_error(const Matrix& precision) {
    const double unit =
        2 * static_cast<double>(precision.rows() + 1) * std::numeric_limits<double>::epsilon();
    return unit * precision.trace();
}

}  // namespace detail

PointEstimate estimate_with(Vector coordinates, Matrix precision) {
    PointEstimate result;
    const Eigen::LLT<Matrix> cholesky(precision);
    ensures(cholesky.info() == Eigen::Success && precision.allFinite(),
            "precision of an ellipsoid is not positive definite");
    result.coordinates = std::move(coordinates);
    result.factor = cholesky.matrixL();
    result.inverse_factor = detail::inverse_of_lower(result.factor);
    result.precision = std::move(precision);
    // With M the precision, L L' <= M + error * I, and with 1/spread below the least eigenvalue of L L',
    // 1/spread - error is below that of M.
    const double error = detail::factoring_error(result.precision);
    const double share = error * result.inverse_factor.squaredNorm();
    result.metric_error = share < 1 ? share / (1 - share) : std::numeric_limits<double>::infinity();
    return result;
}

}  // namespace alidade
