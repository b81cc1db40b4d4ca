#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "log_gamma.hpp"
#include "radii.hpp"

namespace alidade::detail {

namespace {

/// How far the exponent of Bennett's inequality may go. Which one serves is seen from the data, so each has
/// its share of the failure probability.
constexpr std::array exponents{0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0};

/// Radii of the ball about the maximiser over which the mixture is bounded, as shares of sqrt(m/kappa): the
/// largest where there is room for it.
constexpr std::array shares{1.0, 0.5, 0.25, 0.1, 0.03, 0.01};

/// -ln of a lower bound of P(chi^2_m <= share^2 m). Half of its law is below m; the first term of the series
/// of the incomplete gamma function bounds the rest.
double ball_cost(Index dimension, double share) {
    if (share == 1) return std::log(2.0);
    const double half = static_cast<double>(dimension) / 2, x = share * share * half;
    return x - half * std::log(x) + log_gamma(half + 1);
}

}  // namespace

double bennett_curvature(double exponent) {
    expects(exponent > 0, "the exponent is {}; must be greater than 0", exponent);
    return 2 * (std::expm1(exponent) - exponent) / (exponent * exponent);
}

double weighted_radius(const WeightedRegressionSize& size) {
    expects(size.dimension >= 0, "the dimension is {}; must be at least 0", size.dimension);
    expects(size.log_det_ratio >= 0 && size.leverage >= 0,
            "the log-determinant is {} and the leverage {}; must be at least 0", size.log_det_ratio,
            size.leverage);
    expects(size.failure > 0 && size.failure < 1,
            "failure probability is {}; must be greater than 0 and less than 1", size.failure);
    if (size.dimension == 0) return 0;
    double least = std::numeric_limits<double>::infinity();
    for (const double exponent : exponents) {
        const double curvature = bennett_curvature(exponent);
        // No xi that is longer is one for which Bennett's inequality holds of every row. Rounded outward.
        const double longest = exponent / (size.leverage * (1 + 1e-12));
        const double level =
            0.5 * size.log_det_ratio + std::log(static_cast<double>(exponents.size()) / size.failure);
        for (const double share : shares) {
            const double ball = share * std::sqrt(static_cast<double>(size.dimension) / curvature);
            const double cost = level + ball_cost(size.dimension, share);
            // The best t if nothing stood in its way.
            const double t = std::min(std::sqrt(2 * cost / curvature), longest - ball);
            if (t > 0) least = std::min(least, curvature * t / 2 + cost / t);
        }
    }
    return least * (1 + 1e-12);
}

}  // namespace alidade::detail
