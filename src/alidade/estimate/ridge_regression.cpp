#include "ridge_regression.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "alidade/error.hpp"
#include "factoring.hpp"

namespace alidade::detail {

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

/// Error, in norm, of the gram matrix and of factoring and solving with it.
double rounding_of(const RidgeStatistics& statistics, const Matrix& precision) {
    return statistics.rounding + factoring_error(precision);
}

struct Factored {
    Matrix precision;
    Eigen::LLT<Matrix> cholesky;
    double error;
};

Factored factored(const RidgeStatistics& statistics, double regularisation) {
    Factored result{regularised(statistics, regularisation), {}, 0};
    result.error = rounding_of(statistics, result.precision);
    if (result.error > 0.1 * regularisation) {
        // Rounding may have eaten the regularisation: raise the matrix above all that it can have done.
        result.precision.diagonal().array() += result.error;
        result.error *= 2;
    }
    result.cholesky.compute(result.precision);
    ensures(result.cholesky.info() == Eigen::Success,
            "precision of a ridge regression is not positive definite");
    return result;
}

void measure_rounding(const RidgeStatistics& statistics, double regularisation, double error,
                      RidgeEstimate& estimate) {
    const Index p = estimate.factor.rows();
    if (p == 0) return;
    const double spread =
        estimate.inverse_factor.squaredNorm();  // 1/spread is below the least eigenvalue of L L'
    // The exact precision M is above regularisation * I whatever the data were. So with least * I <= M,
    // L L' <= M + error * I <= (1 + error/least) M.
    const double least = std::max(regularisation, 1 / spread - error);
    estimate.metric_error = error / least;
    // log det M <= log det(L L' + error * I); the logarithm is concave, so equal eigenvalues are the worst.
    const auto dimension = static_cast<double>(p);
    estimate.log_det_error = dimension * std::log1p(error * spread / dimension);
    estimate.shift = (error * estimate.coordinates.norm() + statistics.rounding) / std::sqrt(least);
}

}  // namespace

void RidgeStatistics::add(const double* feature, std::int64_t repeats, double residuals) {
    const Index p = dimension();
    const auto weight = static_cast<double>(repeats);
    double square = 0;
    for (Index j = 0; j < p; ++j) {
        moment[j] += residuals * feature[j];
        square += feature[j] * feature[j];
        for (Index i = j; i < p; ++i) gram(i, j) += weight * feature[i] * feature[j];
    }
    observations += repeats;
    // Each sum and product is off by half an epsilon at most, relative to its size.
    rounding += std::numeric_limits<double>::epsilon() *
                (weight * (square + std::sqrt(square)) + gram.trace() + moment.norm());
}

RidgeEstimate solve_ridge(const RidgeStatistics& statistics, double regularisation) {
    Factored solved = factored(statistics, regularisation);
    RidgeEstimate result;
    result.precision = std::move(solved.precision);
    result.factor = solved.cholesky.matrixL();
    result.inverse_factor = inverse_of_lower(result.factor);
    result.log_det_ratio = log_det_of(result.factor, regularisation);
    result.coordinates = solved.cholesky.solve(statistics.moment);
    measure_rounding(statistics, regularisation, solved.error, result);
    return result;
}

double log_det_ratio(const RidgeStatistics& statistics, double regularisation) {
    return log_det_of(factored(statistics, regularisation).cholesky.matrixL(), regularisation);
}

}  // namespace alidade::detail
