#include "radii.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "alidade/error.hpp"
#include "log_gamma.hpp"

namespace alidade::detail {

namespace {

/// ln Gamma(t + 1/2 + halves/2) - ln Gamma(t + 1/2), at most. The difference of two large logarithms would
/// lose its digits, so whole steps are taken one by one, and a half step by Watson's inequality (1959),
/// Gamma(t+1)/Gamma(t+1/2) <= sqrt(t + 1/pi), where t is large.
double log_gamma_ratio(double t, Index halves) {
    double sum = 0, from = t + 0.5;
    if (halves % 2 == 1) {
        const double whole = log_gamma(t + 1), unit = 8 * std::numeric_limits<double>::epsilon();
        sum += t < 1e4 ? whole - log_gamma(t + 0.5) + unit * std::abs(whole)
                       : 0.5 * std::log(t + 1 / std::numbers::pi);
        from = t + 1;
    }
    for (Index k = 0; k < halves / 2; ++k) sum += std::log(from + static_cast<double>(k));
    return sum;
}

}  // namespace

double mixture_regret(double observations, Index features) {
    expects(observations >= 0 && features >= 1, "{} observations and {} features; must be at least 0 and 1",
            observations, features);
    if (features == 1) return 0;
    const double half = static_cast<double>(features) / 2, t = observations;
    // The worst case is that all counts fall to one base model, because the regret is convex in the counts
    // [docs/algorithms/likelihood.md, Lemma 2].
    return log_gamma(0.5) - log_gamma(half) + log_gamma_ratio(t, features - 1) + 1e-12;
}

double log_simplex_volume(Index features) {
    const auto d = static_cast<double>(features);
    // sqrt(d)/(d-1)!: the uniform law has the density (d-1)!/sqrt(d) in tangent coordinates.
    return 0.5 * std::log(d) - log_gamma(d);
}

double log_ball_volume(Index dimension) {
    const auto n = static_cast<double>(dimension);
    return n / 2 * std::log(std::numbers::pi) - log_gamma(n / 2 + 1);
}

double kappa(double x) {
    if (x <= -1) return std::numeric_limits<double>::infinity();
    // The series 1/2 - x/3 + x^2/4 - ..., where the difference would cancel.
    if (std::abs(x) < 1e-3) return 0.5 + x * (-1.0 / 3 + x * (0.25 + x * (-0.2 + x / 6)));
    return (x - std::log1p(x)) / (x * x);
}

double symmetric_curvature(double b) {
    expects(b >= 0 && b < 1, "a relative change of {}; must be at least 0 and less than 1", b);
    const double square = b * b;
    // The series 1 + b^2/2 + b^4/3 + ..., where the quotient would lose digits.
    if (square < 1e-6) return 1 + square * (0.5 + square / 3);
    return -std::log1p(-square) / square;
}

double log_simplex_radius(Index features, double log_det_metric) {
    expects(features >= 2, "{} features; must be at least 2", features);
    const Index p = features - 1;
    return (0.5 * log_det_metric + log_simplex_volume(features) - log_ball_volume(p)) /
           static_cast<double>(p);
}

double centred_regret(double uniform_regret, Index features, double exponent, double log_radius,
                      double squared_reach) {
    const auto p = static_cast<double>(features - 1);
    expects(exponent > 0 && exponent <= p, "an exponent of {}; must be positive and at most {}", exponent, p);
    expects(squared_reach > 0, "a squared reach of {}; must be positive", squared_reach);
    return uniform_regret + std::log(p / exponent) -
           (p - exponent) * (log_radius - 0.5 * std::log(squared_reach));
}

double combined_regret(std::span<const double> weights, std::span<const double> regrets) {
    expects(!weights.empty() && weights.size() == regrets.size(), "{} weights of {} regrets", weights.size(),
            regrets.size());
    const double least = *std::ranges::min_element(regrets);
    if (!std::isfinite(least)) return least;
    double sum = 0;
    for (std::size_t m = 0; m < weights.size(); ++m) sum += weights[m] * std::exp(least - regrets[m]);
    return least - std::log(sum);
}

double likelihood_allowance(double regret, Index mixtures, Index sets, double delta) {
    expects(delta > 0 && delta < 1, "delta is {}; must be greater than 0 and less than 1", delta);
    expects(sets >= 1 && mixtures >= 1, "{} sets and {} mixtures; must be at least 1", sets, mixtures);
    // Ville's inequality with delta/sets for each set; ln(mixtures) is the price of choosing the best mixture
    // after the data [likelihood §2].
    return regret + std::log(static_cast<double>(mixtures)) + std::log(static_cast<double>(sets) / delta);
}

}  // namespace alidade::detail
