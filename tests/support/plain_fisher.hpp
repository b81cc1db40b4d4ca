#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/planning_passes.hpp"
#include "alidade/model/tangent_space.hpp"
#include "support/dense_algebra.hpp"

namespace alidade::support {

// The planning pass of the likelihood explorer [likelihood §5] pair by pair and by Eigen, as one would write
// it: what detail::FisherPass is tested and measured against.

inline double plain_leading_eigenvalue(const Matrix& matrix) {
    Vector direction = matrix.diagonal() + Vector::Constant(matrix.rows(), 1e-12);
    double value = 0;
    for (int step = 0; step < 8; ++step) {
        const Vector image = matrix.lazyProduct(direction);
        const double norm = image.norm();
        if (norm == 0) return 0;
        value = norm / direction.norm();
        direction = image / norm;
    }
    return value;
}

inline double plain_bonus(const Matrix& gram, FisherBonus bonus, double allowance) {
    if (bonus == FisherBonus::gain) {
        const Matrix factor = cholesky(Matrix::Identity(gram.rows(), gram.rows()) + gram);
        double sum = 0;
        for (Index i = 0; i < gram.rows(); ++i) sum += 2 * std::log(factor(i, i));
        return sum;
    }
    if (bonus == FisherBonus::leverage) return plain_leading_eigenvalue(gram);
    return std::min(1.0, 0.5 * std::sqrt(2 * allowance * plain_leading_eigenvalue(gram)));
}

/// One number for each pair.
inline std::vector<double> plain_bonuses(const FeatureMap& features, const TangentFeatures& tangent,
                                         const Vector& weights, const Matrix& factor, FisherBonus bonus,
                                         double allowance) {
    const Index p = tangent.space.dimension();
    std::vector<double> result;
    Matrix scaled;
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const Index m = features.successors(pair), entry = features.first_entry(pair);
        scaled.resize(p, m);
        tangent.psi_of_pair(pair, scaled.data());
        for (Index j = 0; j < m; ++j) {
            double predicted = 0;
            const auto phi = features.phi(entry + j);
            for (Index i = 0; i < features.features(); ++i) predicted += weights[i] * phi[at(i)];
            scaled.col(j) /= std::sqrt(std::max(predicted, 1e-300));
        }
        factor.triangularView<Eigen::Lower>().solveInPlace(scaled);
        result.push_back(plain_bonus(scaled.lazyProduct(scaled.transpose()), bonus, allowance));
    }
    return result;
}

inline std::vector<double> plain_backup(const FeatureMap& features, const Vector& weights, double scale,
                                        std::span<const double> bonus, std::span<const double> next) {
    std::vector<double> result;
    for (Index pair = 0; pair < features.pairs(); ++pair)
        result.push_back(scale * bonus[at(pair)] + weights.dot(features.phi_value(pair, next)));
    return result;
}

}  // namespace alidade::support
