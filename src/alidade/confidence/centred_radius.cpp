#include "centred_radius.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "../model/difference_basis.hpp"
#include "../theory/radii.hpp"
#include "alidade/model/parameter_set.hpp"
#include "likelihood_form.hpp"

namespace alidade::detail {

namespace {

/// r and z of [docs/algorithms/likelihood.md, Lemma 3c]: how far a row may move relative to itself, and where
/// the slabs of the others are cut, in standard deviations. Any would do.
constexpr double largest_change = 0.97, cut = 4;
/// What rounding may have made too small.
constexpr double outward = 1 + 1e-6;

}  // namespace

HypothesisMetric HypothesisMetric::of(const Matrix& base, Index dimension) {
    const Matrix identity = Matrix::Identity(dimension, dimension);
    const double mean = base.size() > 0 ? base.trace() / static_cast<double>(dimension) : 0;
    if (!(mean > 0)) return {identity, identity, 0, 0};
    const double ridge = 1e-3 * mean;
    const Matrix form = base + ridge * identity;
    const Eigen::LLT<Matrix> cholesky(form);
    if (cholesky.info() != Eigen::Success) return {identity, identity, 0, 0};
    double log_det = 0;
    for (Index i = 0; i < dimension; ++i) log_det += 2 * std::log(cholesky.matrixLLT()(i, i));
    return {form, base, ridge, log_det};
}

InnerGaussian inner_gaussian(const LikelihoodRows& rows, const Vector& weights, const Vector& centre,
                             const HypothesisMetric& metric, double share) {
    const InnerGaussian none{std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::infinity()};
    const Matrix basis = difference_basis(centre);
    const Index d = centre.size(), p = basis.cols();
    const auto dimension = static_cast<double>(p);
    const Matrix relative = relative_rows(rows, centre, basis);
    const Matrix faces =
        share * (basis.transpose() * centre.array().square().inverse().matrix().asDiagonal() * basis);
    const Eigen::LLT<Matrix> first(weighed_gram(relative, rows.counts, Vector::Ones(rows.size())) + faces);
    if (first.info() != Eigen::Success) return none;
    const Vector squares = leverages(first, relative);
    Vector curvatures(rows.size());
    double log_mass = 0;  // ln Q
    for (Index k = 0; k < rows.size(); ++k) {
        const double deviation = std::sqrt(squares[k]) * outward, most = cut * deviation;
        curvatures[k] = symmetric_curvature(std::min(largest_change, most));
        if (most < largest_change) log_mass += std::log(std::erf(cut / std::numbers::sqrt2));
    }
    const Eigen::LLT<Matrix> second(weighed_gram(relative, rows.counts, curvatures) + faces);
    if (second.info() != Eigen::Success) return none;
    // Columns of the roots: L^-1 B' e_i, L^-1 B' Z.
    const Matrix corners = second.matrixL().solve(basis.transpose());
    for (Index i = 0; i < d; ++i) {
        const double deviation = corners.col(i).norm() * std::sqrt(outward);
        log_mass += std::log(std::erf(largest_change * centre[i] / (std::numbers::sqrt2 * deviation)));
    }
    const ParameterSet simplex = ParameterSet::simplex(d);
    const Matrix spread = corners * simplex.space().basis;
    // ln det in an orthonormal basis: the determinant of the squared lengths of this one is d.
    double half_log_det = -0.5 * std::log(dimension + 1);
    for (Index i = 0; i < p; ++i) half_log_det += std::log(second.matrixLLT()(i, i));
    const double inside = 0.5 * dimension * std::log(2 * std::numbers::pi) - half_log_det + log_mass;
    // Every observation's logarithm, and its share of the determinant, is off by some roundings.
    const double rounding = 4 * dimension * static_cast<double>(p + rows.size()) *
                            std::numeric_limits<double>::epsilon() * rows.observations;
    const double regret =
        log_simplex_volume(d) - inside + log_likelihood_ratio(rows, weights, centre) + rounding;
    if (!std::isfinite(regret)) return none;
    return {regret, (spread.transpose() * spread).cwiseProduct(metric.form).sum() * outward};
}

double squared_reach(const PointEstimate& estimate, double squared_radius, const Vector& centre,
                     const HypothesisMetric& metric) {
    const ParameterSet simplex = ParameterSet::simplex(centre.size());
    const Vector middle = simplex.space().coordinates(centre), off = estimate.coordinates - middle;
    const Matrix& inverse = estimate.inverse_factor;
    const double radius = std::sqrt(squared_radius);
    // |theta - c|_G for theta = theta~ + v: |v|_G^2 + 2 v'G u + |u|_G^2, each at its most.
    const auto of_form = [&](const Matrix& form) {
        const Matrix whitened = inverse * form * inverse.transpose();
        const Eigen::SelfAdjointEigenSolver<Matrix> solver((whitened + whitened.transpose()) / 2,
                                                           Eigen::EigenvaluesOnly);
        return squared_radius * std::max(0.0, solver.eigenvalues().maxCoeff()) +
               2 * radius * (inverse * (form * off)).norm() + off.dot(form * off);
    };
    double corner = 0, plain_corner = 0;
    for (Index i = 0; i < centre.size(); ++i) {
        const Vector from = simplex.space().coordinates(Vector::Unit(centre.size(), i)) - middle;
        corner = std::max(corner, from.dot(metric.form * from));
        plain_corner = std::max(plain_corner, from.squaredNorm());
    }
    return std::min({corner, of_form(metric.form), of_form(metric.base) + metric.ridge * plain_corner}) *
           outward;
}

}  // namespace alidade::detail
