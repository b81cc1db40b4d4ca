#pragma once

#include <Eigen/LU>
#include <limits>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::support {

/// The nearest point to `estimate` of {x : normals' x + constants >= 0} in the metric factor factor', by
/// brute force: the optimality conditions of every set of at most p constraints taken as equations, solved in
/// `long double` (64 bits of mantissa); the nearest feasible solution counts. For small sizes only.
inline Vector exact_projection(const Matrix& normals, const Vector& constants, const Vector& estimate,
                               const Matrix& factor) {
    using Long = long double;
    using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
    using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;
    const Index p = estimate.size(), n = constants.size();
    const LongMatrix lower = factor.cast<Long>().triangularView<Eigen::Lower>();
    // To the size of the constraints: the solver's rounding is that of the largest entry.
    const LongMatrix precision = lower * lower.transpose() / lower.squaredNorm();
    const LongMatrix rows = normals.cast<Long>().transpose();
    const LongVector from = estimate.cast<Long>(), shift = constants.cast<Long>();
    LongVector best = LongVector::Constant(p, std::numeric_limits<Long>::quiet_NaN());
    Long least = std::numeric_limits<Long>::infinity();
    std::vector<Index> chosen;
    const auto consider = [&] {
        const Index k = static_cast<Index>(chosen.size());
        LongMatrix system = LongMatrix::Zero(p + k, p + k);
        LongVector right(p + k);
        system.topLeftCorner(p, p) = precision;
        right.head(p) = precision * from;
        for (Index j = 0; j < k; ++j) {
            const Index i = chosen[static_cast<std::size_t>(j)];
            system.row(p + j).head(p) = rows.row(i);
            system.col(p + j).head(p) = rows.row(i).transpose();
            right[p + j] = -shift[i];
        }
        const Eigen::FullPivLU<LongMatrix> solver(system);
        if (!solver.isInvertible()) return;
        const LongVector x = solver.solve(right).head(p);
        if ((rows * x + shift).minCoeff() < -1e-15L * (1 + x.norm())) return;
        const Long distance = (lower.transpose() * (x - from)).norm();
        if (distance < least) least = distance, best = x;
    };
    const auto extend = [&](const auto& self, Index next) -> void {
        consider();
        if (static_cast<Index>(chosen.size()) == p) return;
        for (Index i = next; i < n; ++i) {
            chosen.push_back(i);
            self(self, i + 1);
            chosen.pop_back();
        }
    };
    extend(extend, 0);
    return best.cast<double>();
}

}  // namespace alidade::support
