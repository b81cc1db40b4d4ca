#include "weighted_regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "intersection.hpp"

namespace alidade::detail {

namespace {

ValueRegression::Setting with_half_of_delta(ValueRegression::Setting setting) {
    setting.delta /= 2;
    return setting;
}

}  // namespace

WeightedStatistics::WeightedStatistics(Index dimension, Index pairs)
    : rows(dimension), least_variance(at(pairs), std::numeric_limits<double>::infinity()) {}

void WeightedStatistics::add(Index pair, std::span<const double> feature, std::int64_t repeats,
                             double residuals, double variance) {
    const double deviation = std::sqrt(variance);
    std::vector<double> scaled(feature.begin(), feature.end());
    for (double& x : scaled) x /= deviation;
    rows.add(scaled.data(), repeats, residuals / deviation);
    inverse_variances += static_cast<double>(repeats) / variance;
    least_variance[at(pair)] = std::min(least_variance[at(pair)], variance);
}

WeightedRegression::WeightedRegression(const ValueRegression::Setting& setting)
    : delta_(setting.delta / 2),
      coarse_(with_half_of_delta(setting), {}),
      // Four times the plain one's: the noise of a row is 1, not 1/2.
      regularisation_(4 * coarse_.regularisation()) {}

double WeightedRegression::variance(const ConfidenceSet& coarse, std::span<const double> phi_v) const {
    const Interval range = coarse.range(phi_v);
    const double lower = std::clamp(range.lower, 0.0, 1.0), upper = std::clamp(range.upper, 0.0, 1.0);
    // p (1 - p), largest where p is nearest to 1/2; moved by no more than p is.
    const double nearest = std::clamp(0.5, lower, std::max(lower, upper));
    return std::max(least_variance, nearest * (1 - nearest) + coarse_.setting().misspecification);
}

double WeightedRegression::variance_about(const ConfidenceSet& coarse,
                                          std::span<const double> phi_square) const {
    // A law that is off its mixture by so much in total variation moves the mean of a square in [0,1] by as
    // much; and no variance in [0,1] is above 1/4 (Popoviciu).
    const double mean = coarse.range(phi_square).upper + coarse_.setting().misspecification;
    return std::clamp(mean, least_variance, 0.25);
}

std::vector<Matrix> WeightedRegression::metrics(std::span<const WeightedStatistics> statistics) const {
    std::vector<Matrix> result;
    for (const WeightedStatistics& step : statistics)
        result.push_back(solve_ridge(step.rows, regularisation_).inverse_factor);
    return result;
}

double WeightedRegression::leverage(const WeightedStatistics& statistics,
                                    std::span<const double> widths) const {
    double largest = 0;
    // |eta| <= 1/sigma and |x| = |psi_V|/sigma, where |psi_V| is at most the pair's width. Pairs that were
    // not seen have an infinite variance.
    for (std::size_t pair = 0; pair < widths.size(); ++pair)
        largest = std::max(largest, widths[pair] / statistics.least_variance[pair]);
    return largest;
}

std::vector<ConfidenceSet> WeightedRegression::solve(std::span<const RegressionSet> coarse,
                                                     std::span<const WeightedStatistics> statistics,
                                                     const WidthOptions& options, Threads threads) const {
    const auto sets = static_cast<Index>(statistics.size());
    if (sets == 0) return {};  // a single step: nothing is learned
    const FeatureMap& features = *coarse_.setting().features;
    std::vector<RidgeEstimate> estimates;
    std::vector<Matrix> metrics;
    for (const WeightedStatistics& step : statistics) {
        estimates.push_back(solve_ridge(step.rows, regularisation_));
        metrics.push_back(estimates.back().inverse_factor);
    }
    const std::vector<double> upper = upper_widths(features, coarse_.features(), metrics, options, threads);
    const double failure = failure_per_set(delta_, coarse_.sets());
    std::vector<ConfidenceSet> result;
    for (Index k = 0; k < sets; ++k) {
        const RidgeEstimate& estimate = estimates[at(k)];
        const WeightedStatistics& step = statistics[at(k)];
        const double metric = std::sqrt(1 + estimate.metric_error);
        const double noise = weighted_radius(
            {.dimension = coarse_.dimension(),
             .log_det_ratio = std::max(0.0, estimate.log_det_ratio + estimate.log_det_error),
             .leverage = metric * leverage(step, std::span(upper).subspan(at(k * features.pairs()),
                                                                          at(features.pairs()))),
             .failure = failure});
        result.push_back(coarse[at(k)].set);
        if (!std::isfinite(noise)) continue;
        // As for the plain regression: noise times rows, minus lambda zeta, and the misspecification times
        // rows [docs/algorithms/bernstein.md, Theorem 1].
        const double radius =
            noise + centre_bias(coarse_.parameters(), coarse_.features().space, estimate, regularisation_) +
            coarse_.setting().misspecification * std::sqrt(step.inverse_variances) * (1 + 1e-9);
        const ConfidenceSet weighted(coarse_.parameters(), estimate, (radius + estimate.shift) * metric);
        result.back() = intersection(result.back(), weighted);
    }
    return result;
}

}  // namespace alidade::detail
