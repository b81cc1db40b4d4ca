#include "likelihood_sets.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../model/difference_basis.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "likelihood_form.hpp"
#include "linear_regression.hpp"

namespace alidade::detail {

namespace {

constexpr double ridge = 0.05;  // tau of [likelihood §3]

double determinant_regret_at(const LikelihoodRows& rows, const Vector& weights, const Vector& centre,
                             bool thorough) {
    const Matrix basis = difference_basis(centre);
    const Index n = basis.cols();
    const auto dimension = static_cast<double>(n);
    const Matrix relative = relative_rows(rows, centre, basis);
    const Matrix information = weighed_gram(relative, rows.counts, Vector::Ones(relative.cols()));
    const Matrix barrier =
        basis.transpose() * centre.array().square().inverse().matrix().asDiagonal() * basis;
    double best = -std::numeric_limits<double>::infinity();
    const std::vector<double> shares = thorough ? std::vector{0.3, 0.6, 0.85} : std::vector{0.6, 0.85};
    const std::vector<double> sizes = thorough ? std::vector{dimension / 2, dimension, dimension + 2}
                                               : std::vector{dimension, dimension + 2};
    for (const double share : shares)
        for (const double size : sizes) {
            // The ellipsoid of this metric, with rho^2 = size, lies in the simplex because of the barrier's
            // part, and on it no row changes by more than `share` of itself [docs/algorithms/likelihood.md,
            // Lemma 3].
            const Eigen::LLT<Matrix> cholesky(information + size / (share * share) * barrier);
            if (cholesky.info() != Eigen::Success) continue;
            // In an orthonormal basis: the determinant of the squared lengths of this one is d.
            double log_det = -0.5 * std::log(dimension + 1);
            for (Index i = 0; i < n; ++i) log_det += std::log(cholesky.matrixLLT()(i, i));
            const Vector q = leverages(cholesky, relative);
            // ln(1+x) >= x - kappa(-b) x^2 for x >= -b; over the ellipsoid the mean of x is 0, that of x^2
            // size q/(n+2).
            double curved = 0;
            for (Index k = 0; k < q.size(); ++k)
                curved += rows.counts[at(k)] * kappa(-std::min(share, std::sqrt(size * q[k]))) * q[k];
            // All are lower bounds of one integral, so the largest is.
            best = std::max(best, log_ball_volume(n) - log_simplex_volume(n + 1) +
                                      dimension / 2 * std::log(size) - log_det -
                                      size / (dimension + 2) * curved);
        }
    // Every observation's logarithm, and its share of the determinant, is off by some roundings.
    const double rounding = 4 * dimension * static_cast<double>(n + rows.size()) *
                            std::numeric_limits<double>::epsilon() * rows.observations;
    return log_likelihood_ratio(rows, weights, centre) - best + rounding;
}

/// The quadratic form whose value is at most rad2 at theta - theta~ for every member of the set: identity and
/// inequality of [likelihood §3], the bounds on the relative changes shrunk by the ellipsoid they gave.
struct Outer {
    Matrix precision;
    double squared_radius;
};

Outer outer_ellipsoid(const LikelihoodRows& rows, const LikelihoodFit& fit, double allowance,
                      const Matrix& basis) {
    const Index d = fit.weights.size(), p = basis.cols();
    const double reach = allowance + fit.gap;
    double farthest = 0;  // |theta~ - e_i|^2
    for (Index i = 0; i < d; ++i)
        farthest = std::max(farthest, fit.weights.squaredNorm() + 1 - 2 * fit.weights[i]);
    // Any smaller weight of a term is valid too. Terms beyond `most` would drown the others in their
    // rounding.
    const double roundings = static_cast<double>(p * (2 * d + rows.size() + 16));
    const double unit = roundings * std::numeric_limits<double>::epsilon(), most = 5e-4 * reach / unit;
    // Scores are off by their roundings, and what pulls with them.
    double squared_radius = reach + unit * (rows.observations + fit.gap), size = 0;
    Vector pull = Vector::Zero(d);
    for (Index i = 0; i < d; ++i) {
        // theta_i <= reach / mu_i, so mu_i theta_i >= w_i theta_i^2 >= w_i (theta_i - theta~_i)^2 - w_i
        // theta~_i^2.
        const double mu = std::max(0.0, rows.observations + fit.gap - fit.scores[i]);
        const double w = std::min(most, std::max(mu, mu * mu / reach));
        const double cost = w * fit.weights[i] * fit.weights[i];
        // A term that would widen the radius noticeably is left out: mu_i theta_i >= 0 holds without it.
        if (cost > 1e-3 * reach / static_cast<double>(d)) continue;
        pull[i] = w;
        size += w;
        squared_radius += cost;
    }
    RowLimits limits{Vector(rows.size()), Vector(rows.size()), {}};
    Vector lengths(rows.size());
    for (Index k = 0; k < rows.size(); ++k) {
        const Eigen::Map<const Vector> f(rows.row(k), d);
        const double predicted = f.dot(fit.weights);
        lengths[k] = f.norm() / predicted;
        const double squares = rows.counts[at(k)] * lengths[k] * lengths[k];
        // theta . f is at most the largest f_i: true on the whole simplex, before any ellipsoid is known.
        limits.changes[k] = f.maxCoeff() / predicted - 1;
        limits.factors[k] = most / squares;
        size += std::min(most, 0.5 * squares);
    }
    // The precision is off by its terms' roundings in norm, also where these terms nearly cancel.
    const double error = unit * size, floor = std::max(ridge, 4 * error);
    squared_radius = (squared_radius + (floor + error) * farthest) * (1 + 1e-9);
    const Matrix constant = basis.transpose() * pull.asDiagonal() * basis + floor * Matrix::Identity(p, p);
    limits.rounding = unit * std::sqrt(squared_radius / floor) * lengths;
    const Matrix precision =
        bootstrapped(rows, relative_rows(rows, fit.weights, basis), constant, squared_radius, limits);
    return {(precision + precision.transpose()) / 2, squared_radius};
}

/// sum of n log(weights . f).
double log_likelihood(const LikelihoodRows& rows, const Vector& weights) {
    double sum = 0;
    for (Index k = 0; k < rows.size(); ++k)
        sum +=
            rows.counts[at(k)] * std::log(Eigen::Map<const Vector>(rows.row(k), rows.features).dot(weights));
    return sum;
}

LikelihoodSet likelihood_set(const LikelihoodRows& rows, const LikelihoodSetOptions& options, Index sets,
                             Index number, const Vector& start) {
    const ParameterSet parameters = ParameterSet::simplex(rows.features);
    const Matrix& basis = parameters.space().basis;
    LikelihoodFit fit = maximise_likelihood(rows, {.barrier = options.barrier}, start);
    const double kt = mixture_regret(rows.observations, rows.features);
    const double det = rows.features > 1 && rows.size() > 0
                           ? determinant_regret(rows, fit.weights, options.thorough)
                           : std::numeric_limits<double>::infinity();
    double predicted = std::numeric_limits<double>::infinity();
    if (!options.predicted.empty()) {
        // Two large sums: what their digits leave open is allowed for.
        const double reached = log_likelihood(rows, fit.weights);
        predicted = reached - options.predicted[at(number)] +
                    1e-12 * (std::abs(reached) + static_cast<double>(rows.features) * rows.observations);
    }
    const double slack = 1e-9 * (1 + kt), regret = std::min({kt, det, predicted});
    // The mixtures are averaged with equal weights that were fixed beforehand; that costs the logarithm of
    // their number, and then the best of them may be chosen after the data [likelihood §2].
    const double allowance =
        likelihood_allowance(regret + slack, options.predicted.empty() ? 2 : 3, sets, options.delta);
    const Outer outer = outer_ellipsoid(rows, fit, allowance, basis);
    const PointEstimate estimate =
        estimate_with(parameters.space().coordinates(fit.weights), outer.precision);
    ConfidenceSet ellipsoid(parameters, estimate,
                            std::sqrt(outer.squared_radius * (1 + estimate.metric_error)));
    return {std::move(fit), allowance, kt, det, predicted, std::move(ellipsoid)};
}

}  // namespace

std::string likelihood_refusal(const Task& task) {
    if (!(task.misspecification >= 0 && task.misspecification < 1))
        return fmt::format("misspecification is {}; must be at least 0 and less than 1", task.misspecification);
    if (task.misspecification != 0 && task.features->kind() != FeatureKind::base_models)
        return fmt::format(
            "problem has a misspecification of {}; without base models the likelihood route needs an exact "
            "mixture; the algorithm hoeffding serves both",
            task.misspecification);
    return {};
}

std::string mixture_refusal(const Task& task) {
    if (std::string refusal = pair_features_refusal(task); !refusal.empty()) return refusal;
    if (task.features->kind() != FeatureKind::base_models)
        return "problem has general signed features; the likelihood of a transition needs base models "
               "([[base]] in problem.toml), but for predictions made on the way: the algorithm hoeffding "
               "with "
               "--confidence likelihood serves both";
    return likelihood_refusal(task);
}

double determinant_regret(const LikelihoodRows& rows, const Vector& weights, bool thorough) {
    double least = std::numeric_limits<double>::infinity();
    // All are bounds of one and the same mixture, so the least may be taken.
    for (const double barrier : thorough ? std::vector{0.5, 1.0, 2.0} : std::vector{1.0}) {
        const LikelihoodFit centre = maximise_likelihood(rows, {.barrier = barrier, .steps = 50}, weights);
        least = std::min(least, determinant_regret_at(rows, weights, centre.weights, thorough));
    }
    return least;
}

std::vector<LikelihoodRows> likelihood_rows(const FeatureMap& features, const Counts& counts,
                                            bool homogeneous) {
    expects(counts.over(features), "counts are of other successors than the features'");
    const Index steps = counts.shape().learned_steps();
    std::vector<LikelihoodRows> result;
    if (!homogeneous) {
        for (Step h = 0; h < steps; ++h) result.push_back(likelihood_rows(features, counts.seen(h)));
        return result;
    }
    if (steps == 0) return result;
    result.push_back(likelihood_rows(features, counts.pooled()));
    return result;
}

std::vector<LikelihoodSet> likelihood_sets(std::span<const LikelihoodRows> rows,
                                           const LikelihoodSetOptions& options,
                                           std::span<const Vector> starts) {
    expects(starts.empty() || starts.size() == rows.size(), "{} warm starts for {} sets", starts.size(),
            rows.size());
    expects(options.predicted.empty() || options.predicted.size() == rows.size(),
            "{} sums of predictions for {} sets", options.predicted.size(), rows.size());
    for (const double sum : options.predicted)
        expects(std::isfinite(sum), "a sum of logarithms of predictions is {}; must be finite", sum);
    std::vector<LikelihoodSet> sets;
    sets.reserve(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k)
        sets.push_back(likelihood_set(rows[k], options, static_cast<Index>(rows.size()),
                                      static_cast<Index>(k), starts.empty() ? Vector{} : starts[k]));
    return sets;
}

bool contains(const LikelihoodRows& rows, const LikelihoodSet& set, const Vector& weights) {
    return log_likelihood_ratio(rows, set.fit.weights, weights) <= set.allowance;
}

}  // namespace alidade::detail
