#include <algorithm>
#include <cmath>

#include "../model/spectrum.hpp"
#include "alidade/width/width.hpp"
#include "unit_scale.hpp"

namespace alidade {

namespace {

/// sqrt((sum y) lambda_max(sum g g'/y)). Any y > 0 makes it a bound (Cauchy-Schwarz): with
/// generators g_j and signs s, |G s|^2 = max_u (sum s_j g_j.u)^2 <= (sum y)(sum (g_j.u)^2/y_j).
double bound_for(const Eigen::Map<const Matrix>& generators, const Vector& y) {
    const Matrix moment = generators * y.cwiseInverse().asDiagonal() * generators.transpose();
    // The solver's eigenvalues are exact for a matrix within a few ulps of `moment`, in norm.
    const double slack = 1 + 1e-12 * static_cast<double>(moment.rows() + generators.cols());
    return std::sqrt(y.sum() * std::max(0.0, detail::largest_eigenvalue(moment)) * slack);
}

}  // namespace

double eigenvalue_bound(const WidthProblem& problem, std::span<const std::uint8_t> witness) {
    if (!detail::has_ordinary_scale(detail::largest_of(problem.generators))) {
        const detail::UnitScale unit(problem.generators);
        return unit.up(eigenvalue_bound({unit.numbers(), problem.dimension, problem.successors}, witness));
    }
    const Index p = problem.dimension, m = problem.successors;
    const Eigen::Map<const Matrix> generators(problem.generators.data(), p, m);
    const Vector norms = generators.colwise().norm().transpose();
    // A zero generator costs nothing; the floor keeps y > 0, as the proof needs.
    const double floor = 1e-9 * norms.maxCoeff();
    if (!(floor > 0)) return 0;
    Vector x = Vector::Zero(p);
    for (Index j = 0; j < m; ++j)
        if (witness[static_cast<std::size_t>(j)]) x += generators.col(j);
    const Vector along = (generators.transpose() * x).cwiseAbs();
    double best = bound_for(generators, norms.cwiseMax(floor));
    const double length = x.norm();
    if (length > 0)
        for (const double t : {0.2, 0.5}) {
            // With y_j = |g_j . u| the inequality is an equality at u, so x / |x| is a good u where x is near
            // the maximiser; a share of the norms keeps y from 0 for generators orthogonal to it.
            const Vector y = ((1 - t) / length * along + t * norms).cwiseMax(floor);
            best = std::min(best, bound_for(generators, y));
        }
    // G V = (G s + G 1) / 2 with signs s = 2V - 1; G 1 is zero but for rounding.
    return 0.5 * (best + generators.rowwise().sum().norm());
}

}  // namespace alidade
