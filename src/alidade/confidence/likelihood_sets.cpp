#include "likelihood_sets.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "../model/difference_basis.hpp"
#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "centred_radius.hpp"
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

/// Of the predictions that were made on the way; infinite where there were none.
double prediction_regret(const LikelihoodRows& rows, const Vector& weights,
                         const std::vector<double>& predicted, Index number) {
    if (predicted.empty()) return std::numeric_limits<double>::infinity();
    // Two large sums: what their digits leave open is allowed for.
    const double reached = log_likelihood(rows, weights);
    return reached - predicted[at(number)] +
           1e-12 * (std::abs(reached) + static_cast<double>(rows.features) * rows.observations);
}

/// The ellipsoid of an allowance, and what it is an ellipsoid about.
struct Shaped {
    PointEstimate estimate;
    double squared_radius;
};

Shaped shaped(const ParameterSet& parameters, const LikelihoodRows& rows, const LikelihoodFit& fit,
              double allowance) {
    const Outer outer = outer_ellipsoid(rows, fit, allowance, parameters.space().basis);
    PointEstimate estimate = estimate_with(parameters.space().coordinates(fit.weights), outer.precision);
    const double squared_radius = outer.squared_radius * (1 + estimate.metric_error);
    return {std::move(estimate), squared_radius};
}

/// The ellipsoid, and in it the convex set.
ConfidenceSet outer_set(const ParameterSet& parameters, const Shaped& outer, const LikelihoodRows& rows,
                        const LikelihoodFit& fit, double allowance) {
    return ConfidenceSet(parameters, outer.estimate, std::sqrt(outer.squared_radius))
        .within_level(level_set(rows, fit.weights, allowance));
}

LikelihoodSet plain_set(const LikelihoodRows& rows, const LikelihoodSetOptions& options, Index sets,
                        Index number, const Vector& start) {
    const ParameterSet parameters = ParameterSet::simplex(rows.features);
    LikelihoodFit fit = maximise_likelihood(rows, {.barrier = options.barrier}, start);
    constexpr double none = std::numeric_limits<double>::infinity();
    const double kt = mixture_regret(rows.observations, rows.features);
    const double det =
        rows.features > 1 && rows.size() > 0 ? determinant_regret(rows, fit.weights, options.thorough) : none;
    const double predicted = prediction_regret(rows, fit.weights, options.predicted, number);
    const double slack = 1e-9 * (1 + kt), regret = std::min({kt, det, predicted});
    // The mixtures are averaged with equal weights that were fixed beforehand; that costs the logarithm of
    // their number, and then the best of them may be chosen after the data [likelihood §2].
    const double allowance =
        likelihood_allowance(regret + slack, options.predicted.empty() ? 2 : 3, sets, options.delta);
    const Shaped outer = shaped(parameters, rows, fit, allowance);
    ConfidenceSet ellipsoid = outer_set(parameters, outer, rows, fit, allowance);
    return {std::move(fit), allowance, kt, det, predicted, none, none, 0, std::move(ellipsoid)};
}

/// Constants of the event of `centred`: to change one is another event, for which a run must ask by another
/// name. Shares of the Dirichlet(1/2) mixture, the uniform one, that about the hypothesis and, where there
/// are some, the predictions; and a, the share of the dimension that the law about a hypothesis keeps.
constexpr std::array mixture_shares{0.05, 0.4, 0.55};
constexpr std::array shares_with_predictions{0.05, 0.3, 0.45, 0.2};
constexpr double law_exponent = 0.4;

/// Regrets of one set's mixtures, and the allowance that they make together.
class CentredAllowance {
public:
    CentredAllowance(const LikelihoodRows& rows, const LikelihoodFit& fit,
                     const LikelihoodSetOptions& options, Index sets, double predicted)
        : rows_(rows),

          metric_(HypothesisMetric::of(options.prior.metric, rows.features - 1)),
          kt_(mixture_regret(rows.observations, rows.features)),
          predicted_(predicted),
          watched_(!options.predicted.empty()),
          sets_(sets),
          delta_(options.delta) {
        // Nobody has seen anything that depends on the weights: no mixture falls behind.
        if (rows.size() == 0) return;
        centre_ = maximise_likelihood(rows, {.barrier = 1.0, .steps = 50}, fit.weights).weights;
        uniform_ = std::numeric_limits<double>::infinity();
        // Any number of them may be tried: all bound one and the same integral.
        for (const double share : {0.1, 1.0}) {
            gaussians_.push_back(inner_gaussian(rows, fit.weights, centre_, metric_, share));
            uniform_ = std::min(uniform_, gaussians_.back().regret);
        }
    }

    double kt() const { return kt_; }
    double uniform() const { return uniform_; }

    /// Of the law about a hypothesis of which it is known that it lies in the ellipsoid.
    double centred(const Shaped& outer) const {
        const Index d = rows_.features;
        if (gaussians_.empty()) return 0;
        const double exponent = std::min(law_exponent, static_cast<double>(d - 1));
        const double radius = log_simplex_radius(d, metric_.log_det);
        const double reach = squared_reach(outer.estimate, outer.squared_radius, centre_, metric_);
        double least = std::numeric_limits<double>::infinity();
        for (const InnerGaussian& gaussian : gaussians_)
            if (std::isfinite(gaussian.regret))
                least = std::min(
                    least, centred_regret(gaussian.regret, d, exponent, radius, reach + gaussian.spread));
        return least;
    }

    double allowance(double centred) const {
        const std::array regrets{kt_, uniform_, centred, predicted_};
        const double regret = watched_ ? combined_regret(shares_with_predictions, regrets)
                                       : combined_regret(mixture_shares, std::span(regrets).first(3));
        return likelihood_allowance(regret + 1e-9 * (1 + kt_), 1, sets_, delta_);
    }

private:
    const LikelihoodRows& rows_;
    HypothesisMetric metric_;
    double kt_, uniform_ = 0, predicted_;
    bool watched_;
    Index sets_;
    double delta_;
    Vector centre_;
    std::vector<InnerGaussian> gaussians_;
};

// [docs/algorithms/likelihood.md, Theorem 1c] on one event the truth is in the set of every allowance of the
// sequence, each of which bounds how far it is, and so what the law about it lacks.
LikelihoodSet centred_set(const LikelihoodRows& rows, const LikelihoodSetOptions& options, Index sets,
                          Index number, const Vector& start) {
    constexpr int most_rounds = 8;
    constexpr double worth = 0.005, none = std::numeric_limits<double>::infinity();
    const ParameterSet parameters = ParameterSet::simplex(rows.features);
    LikelihoodFit fit = maximise_likelihood(rows, {.barrier = options.barrier}, start);
    const double predicted = prediction_regret(rows, fit.weights, options.predicted, number);
    const CentredAllowance mixtures(rows, fit, options, sets, predicted);
    double centred = none, allowance = mixtures.allowance(none);
    Shaped outer = shaped(parameters, rows, fit, allowance);
    Index rounds = 0;
    while (rows.features > 1 && rows.size() > 0 && rounds < most_rounds) {
        ++rounds;
        const double found = mixtures.centred(outer), smaller = mixtures.allowance(found);
        const double gained = allowance - smaller;
        if (!(gained > 0)) break;
        centred = found;
        allowance = smaller;
        outer = shaped(parameters, rows, fit, allowance);
        if (gained <= worth) break;
    }
    ConfidenceSet ellipsoid = outer_set(parameters, outer, rows, fit, allowance);
    return {std::move(fit), allowance, mixtures.kt(),       none, predicted, mixtures.uniform(),
            centred,        rounds,    std::move(ellipsoid)};
}

}  // namespace

std::string likelihood_refusal(const Task& task) {
    if (!(task.misspecification >= 0 && task.misspecification < 1))
        return fmt::format("misspecification is {}; must be at least 0 and less than 1",
                           task.misspecification);
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
    const bool centred = options.radius == Radius::centred;
    const std::vector<bool>& tells = options.prior.tells;
    expects(!centred || tells.empty() || tells.size() == rows.size(),
            "{} sets of which it is said whether they tell; there are {}", tells.size(), rows.size());
    // Sets with nothing to learn fail never, and need no share of delta.
    const Index telling =
        centred && !tells.empty() ? std::max<Index>(1, std::ranges::count(tells, true)) : std::ssize(rows);
    std::vector<LikelihoodSet> sets;
    sets.reserve(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const Vector start = starts.empty() ? Vector{} : starts[k];
        const auto number = static_cast<Index>(k);
        if (!centred) {
            sets.push_back(plain_set(rows[k], options, telling, number, start));
        } else if (!tells.empty() && !tells[k]) {
            // What was seen from where nobody can be has no share of delta, and is not looked at.
            LikelihoodRows unseen;
            unseen.features = rows[k].features;
            LikelihoodSetOptions silent = options;
            silent.predicted.clear();
            sets.push_back(centred_set(unseen, silent, telling, number, start));
        } else {
            sets.push_back(centred_set(rows[k], options, telling, number, start));
        }
    }
    return sets;
}

bool contains(const LikelihoodRows& rows, const LikelihoodSet& set, const Vector& weights) {
    return log_likelihood_ratio(rows, set.fit.weights, weights) <= set.allowance;
}

}  // namespace alidade::detail
