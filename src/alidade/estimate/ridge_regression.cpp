#include "alidade/estimate/ridge_regression.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

namespace {

Matrix regularised(const RidgeStatistics& statistics, double regularisation) {
    expects(std::isfinite(regularisation) && regularisation > 0,
            "regularisation is {}; must be a finite number greater than 0", regularisation);
    Matrix precision = statistics.gram.selfadjointView<Eigen::Lower>();
    precision.diagonal().array() += regularisation;
    return precision;
}

double log_det_of(const Matrix& factor, double regularisation) {
    double sum = 0;
    for (Index i = 0; i < factor.rows(); ++i) sum += 2 * std::log(factor(i, i));
    return sum - static_cast<double>(factor.rows()) * std::log(regularisation);
}

/// By forward substitution, column by column: for a handful of coordinates the blocked solvers of the
/// linear algebra library spend more on packing than on arithmetic.
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

}  // namespace

void RidgeStatistics::add(const double* feature, std::int64_t repeats, double residuals) {
    const Index p = dimension();
    const auto weight = static_cast<double>(repeats);
    for (Index j = 0; j < p; ++j) {
        moment[j] += residuals * feature[j];
        for (Index i = j; i < p; ++i) gram(i, j) += weight * feature[i] * feature[j];
    }
    observations += repeats;
}

RidgeEstimate solve_ridge(const RidgeStatistics& statistics, double regularisation) {
    RidgeEstimate result;
    result.precision = regularised(statistics, regularisation);
    const Eigen::LLT<Matrix> cholesky(result.precision);
    ensures(cholesky.info() == Eigen::Success, "precision of a ridge regression is not positive definite");
    result.factor = cholesky.matrixL();
    result.inverse_factor = inverse_of_lower(result.factor);
    result.log_det_ratio = log_det_of(result.factor, regularisation);
    result.coordinates = cholesky.solve(statistics.moment);
    return result;
}

double log_det_ratio(const RidgeStatistics& statistics, double regularisation) {
    const Eigen::LLT<Matrix> cholesky(regularised(statistics, regularisation));
    ensures(cholesky.info() == Eigen::Success, "precision of a ridge regression is not positive definite");
    return log_det_of(cholesky.matrixL(), regularisation);
}

}  // namespace alidade
