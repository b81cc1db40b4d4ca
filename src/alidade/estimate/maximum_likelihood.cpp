#include "maximum_likelihood.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "../model/difference_basis.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

double product(const double* row, const Vector& weights) {
    double sum = 0;
    for (Index i = 0; i < weights.size(); ++i) sum += row[i] * weights[i];
    return sum;
}

/// L + mu sum log theta_i relative to another point, gradient and Hessian in d coordinates.
struct Expansion {
    Vector gradient;
    Matrix curvature;  // minus the Hessian; lower triangle
};

Expansion expand(const LikelihoodRows& rows, const Vector& linear, const Vector& weights, double barrier) {
    const Index d = weights.size();
    Expansion result{linear.size() > 0 ? linear : Vector(Vector::Zero(d)), Matrix::Zero(d, d)};
    for (Index k = 0; k < rows.size(); ++k) {
        const double* f = rows.row(k);
        const double n = rows.counts[at(k)], predicted = product(f, weights);
        const double first = n / predicted, second = first / predicted;
        for (Index j = 0; j < d; ++j) {
            result.gradient[j] += first * f[j];
            const double scaled = second * f[j];
            for (Index i = j; i < d; ++i) result.curvature(i, j) += scaled * f[i];
        }
    }
    for (Index i = 0; i < d; ++i) {
        result.gradient[i] += barrier / weights[i];
        result.curvature(i, i) += barrier / (weights[i] * weights[i]);
    }
    return result;
}

/// sum n log(1 + x) + barrier terms of moving from `weights` by `step`; minus infinity outside.
double gain(const LikelihoodRows& rows, const Vector& linear, const Vector& weights, const Vector& step,
            double barrier) {
    double sum = linear.size() > 0 ? linear.dot(step) : 0.0;
    for (Index i = 0; i < weights.size(); ++i) {
        const double x = step[i] / weights[i];
        if (x <= -1) return -std::numeric_limits<double>::infinity();
        sum += barrier * std::log1p(x);
    }
    for (Index k = 0; k < rows.size(); ++k)
        sum += rows.counts[at(k)] * std::log1p(product(rows.row(k), step) / product(rows.row(k), weights));
    return sum;
}

/// One damped Newton step for the given barrier. Returns the squared Newton decrement before it.
double newton_step(const LikelihoodRows& rows, const Vector& linear, double barrier, Vector& weights) {
    const Matrix basis = difference_basis(weights);
    const Expansion here = expand(rows, linear, weights, barrier);
    const Matrix full = here.curvature.selfadjointView<Eigen::Lower>();
    const Vector gradient = basis.transpose() * here.gradient;
    const Matrix curvature = basis.transpose() * full * basis;
    const Vector direction = curvature.llt().solve(gradient);
    const double decrement = gradient.dot(direction);
    if (!(decrement > 0) || !std::isfinite(decrement)) return 0;
    const Vector step = basis * direction;
    double length = 1;
    for (Index i = 0; i < weights.size(); ++i)
        if (step[i] < 0) length = std::min(length, -0.99 * weights[i] / step[i]);
    // A full step is nearly always right; halve it until the gain is a quarter of what the slope promises.
    for (int tries = 0; tries < 60; ++tries, length /= 2)
        if (gain(rows, linear, weights, length * step, barrier) >= 0.25 * length * decrement) break;
    weights += length * step;
    weights = weights.cwiseMax(1e-300);
    weights /= weights.sum();
    return decrement;
}

void measure(const LikelihoodRows& rows, LikelihoodFit& fit) {
    const Index d = fit.weights.size();
    fit.scores = Vector::Zero(d);
    double weighed = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        const double* f = rows.row(k);
        const double n = rows.counts[at(k)];
        weighed += n;
        const double scale = n / product(f, fit.weights);
        for (Index i = 0; i < d; ++i) fit.scores[i] += scale * f[i];
    }
    // Rows left out have f_i / (theta . f) = 1 for every i.
    fit.scores.array() += rows.observations - weighed;
    // By concavity L(theta) - L(theta~) <= max_i of scores - t; each term is off by d roundings or so.
    const double unit = 4 * static_cast<double>(d + rows.size()) * std::numeric_limits<double>::epsilon();
    fit.gap = std::max(0.0, fit.scores.maxCoeff() - rows.observations) + unit * fit.scores.maxCoeff();
}

}  // namespace

LikelihoodRows likelihood_rows(const FeatureMap& features, std::span<const SeenEntry> seen) {
    expects(features.kind() == FeatureKind::base_models,
            "the likelihood of weights needs base models; the problem has general signed features");
    LikelihoodRows result;
    result.features = features.features();
    for (const auto& [entry, count] : seen) {
        expects(entry >= 0 && entry < features.entries() && count > 0,
                "count {} of entry {}; must be positive, and of an entry below {}", count, entry,
                features.entries());
        result.observations += static_cast<double>(count);
        const auto f = features.phi(entry);
        if (std::ranges::all_of(f, [&](double value) { return value == f[0]; })) continue;
        const double largest = std::ranges::max(f);
        const int exponent = largest > 0 && largest < 1e-60 ? -std::ilogb(largest) : 0;
        for (const double value : f)
            result.rows.push_back(exponent == 0 ? value : std::ldexp(value, exponent));
        result.counts.push_back(static_cast<double>(count));
    }
    return result;
}

void validate(const LikelihoodRows& rows) {
    const Index d = rows.features;
    expects(d >= 1 && rows.rows.size() == rows.counts.size() * at(d),
            "{} numbers in {} rows of {}; there must be as many as rows times features", rows.rows.size(),
            rows.counts.size(), d);
    double sum = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        double least = rows.row(k)[0], most = least;
        for (Index i = 1; i < d; ++i) {
            least = std::min(least, rows.row(k)[i]);
            most = std::max(most, rows.row(k)[i]);
        }
        expects(least >= 0 && most >= 1e-100 && std::isfinite(most),
                "row {} of the likelihood has elements from {} to {}; must be probabilities, or a multiple "
                "of them, and the largest at least 1e-100",
                k, least, most);
        expects(rows.counts[at(k)] > 0, "row {} of the likelihood was seen {} times; must be more than 0", k,
                rows.counts[at(k)]);
        sum += rows.counts[at(k)];
    }
    expects(std::isfinite(rows.observations) && rows.observations >= sum * (1 - 1e-12),
            "{} observations, but rows seen {} times; must be finite and no fewer", rows.observations, sum);
}

LikelihoodFit maximise_likelihood(const LikelihoodRows& rows, const LikelihoodOptions& options,
                                  const Vector& start) {
    validate(rows);
    const Index d = rows.features;
    expects(options.barrier > 0, "barrier is {}; must be greater than 0", options.barrier);
    expects(options.linear.size() == 0 || options.linear.size() == d,
            "the linear term has {} numbers; must be {}", options.linear.size(), d);
    expects(start.size() == 0 || (start.size() == d && start.minCoeff() > 0),
            "the warm start has {} weights, the least {}; must be {} positive ones", start.size(),
            start.size() > 0 ? start.minCoeff() : 0.0, d);
    LikelihoodFit fit;
    fit.weights =
        start.size() > 0 ? Vector(start / start.sum()) : Vector::Constant(d, 1.0 / static_cast<double>(d));
    if (d > 1 && (rows.size() > 0 || options.linear.size() > 0)) {
        // A warm start is near the end of the path, a cold one at its beginning.
        double barrier = start.size() > 0 ? std::max(options.barrier, 1e-2) : std::max(options.barrier, 1.0);
        double before = std::numeric_limits<double>::infinity();
        while (fit.steps < options.steps) {
            const bool last = barrier <= options.barrier;
            const double decrement = newton_step(rows, options.linear, barrier, fit.weights);
            ++fit.steps;
            // Near the end of the path the decrement falls quadratically until only rounding is left of it;
            // before that a rough point is enough to lower the barrier.
            const bool settled = last ? decrement < 1e-20 || (decrement < 1e-9 && decrement > 0.25 * before)
                                      : decrement < 0.1 * barrier;
            before = decrement;
            if (!settled) continue;
            if (last) break;
            barrier = std::max(options.barrier, barrier / 30);
            before = std::numeric_limits<double>::infinity();
        }
    }
    measure(rows, fit);
    return fit;
}

double log_likelihood_ratio(const LikelihoodRows& rows, const Vector& one, const Vector& other) {
    double sum = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        const double below = product(rows.row(k), other);
        if (!(below > 0)) return std::numeric_limits<double>::infinity();
        sum += rows.counts[at(k)] * std::log(product(rows.row(k), one) / below);
    }
    return sum;
}

Matrix information(const LikelihoodRows& rows, const Vector& weights, const Matrix& basis,
                   std::span<const double> factors) {
    const Index d = weights.size();
    Matrix sum = Matrix::Zero(d, d);
    for (Index k = 0; k < rows.size(); ++k) {
        const double* f = rows.row(k);
        const double predicted = product(f, weights);
        const double factor = factors.empty() ? 1.0 : factors[at(k)];
        const double scale = factor * rows.counts[at(k)] / (predicted * predicted);
        for (Index j = 0; j < d; ++j) {
            const double scaled = scale * f[j];
            for (Index i = j; i < d; ++i) sum(i, j) += scaled * f[i];
        }
    }
    const Matrix full = sum.selfadjointView<Eigen::Lower>();
    return basis.transpose() * full * basis;
}

}  // namespace alidade::detail
