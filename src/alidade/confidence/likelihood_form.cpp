#include "likelihood_form.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "../theory/radii.hpp"

namespace alidade::detail {

namespace {

constexpr int bootstrap_rounds = 12;

}  // namespace

Matrix relative_rows(const LikelihoodRows& rows, const Vector& weights, const Matrix& basis) {
    const Eigen::Map<const Matrix> all(rows.rows.data(), rows.features, rows.size());
    Matrix relative = basis.transpose() * all;
    for (Index k = 0; k < rows.size(); ++k) relative.col(k) /= all.col(k).dot(weights);
    return relative;
}

Matrix weighed_gram(const Matrix& relative, const std::vector<double>& counts, const Vector& factors) {
    Matrix scaled = relative;
    for (Index k = 0; k < relative.cols(); ++k) scaled.col(k) *= factors[k] * counts[at(k)];
    return scaled * relative.transpose();
}

Vector leverages(const Eigen::LLT<Matrix>& cholesky, const Matrix& relative) {
    if (relative.size() == 0) return Vector::Zero(relative.cols());  // no data, or nothing to learn
    return cholesky.matrixL().solve(relative).colwise().squaredNorm();
}

Matrix bootstrapped(const LikelihoodRows& rows, const Matrix& relative, const Matrix& constant,
                    double squared_radius, RowLimits& limits) {
    Matrix precision;
    Vector factors(rows.size());
    for (int round = 0; round < bootstrap_rounds; ++round) {
        for (Index k = 0; k < rows.size(); ++k)
            // x - ln(1+x) >= kappa(b) x^2 for x <= b. Rounded down: a smaller precision has a larger
            // ellipsoid.
            factors[k] = std::min(kappa(limits.changes[k]) * (1 - 1e-11), limits.factors[k]);
        precision = constant + weighed_gram(relative, rows.counts, factors);
        const Vector norms = leverages(Eigen::LLT<Matrix>(precision), relative);
        double moved = 0;
        for (Index k = 0; k < rows.size(); ++k) {
            const double reached = std::sqrt(squared_radius * norms[k]) * (1 + 1e-9) + limits.rounding[k];
            // In this order: where a factorisation failed, `reached` is not a number, and what was known
            // stays.
            const double tighter = std::min(limits.changes[k], reached);
            moved = std::max(moved, limits.changes[k] - tighter);
            limits.changes[k] = tighter;
        }
        if (moved < 1e-3) break;
    }
    return precision;
}

}  // namespace alidade::detail
