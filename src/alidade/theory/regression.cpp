#include "radii.hpp"

#include <cmath>
#include <limits>

#include "alidade/error.hpp"

namespace alidade::detail {

double ridge_regularisation(double parameter_radius, bool base_models) {
    if (base_models || parameter_radius <= 0) return 0.25;
    return 0.25 / (parameter_radius * parameter_radius);
}

double failure_per_set(double delta, Index sets) {
    expects(delta > 0 && delta < 1, "delta is {}; must be greater than 0 and less than 1", delta);
    expects(sets >= 1, "the number of confidence sets is {}; must be at least 1", sets);
    return delta / static_cast<double>(sets);
}

double self_normalised_radius(double log_det_ratio, double failure, double noise) {
    expects(failure > 0 && failure < 1, "failure probability is {}; must be greater than 0 and less than 1",
            failure);
    // Rounding may leave a tiny negative ratio when no data have come in.
    return noise * std::sqrt(std::fmax(0.0, log_det_ratio) + 2 * std::log(1 / failure));
}

double prior_bias(double regularisation, double parameter_radius) {
    return std::sqrt(regularisation) * parameter_radius;
}

double misspecification_radius(double misspecification, std::int64_t observations) {
    // |X'e| in the dual metric is at most |e|_2, as X (lambda I + X'X)^-1 X' <= I [theory §1.1].
    return misspecification * std::sqrt(static_cast<double>(observations));
}

double linear_radius(double log_determinant, Index successors, Index sets, double delta, double bias) {
    expects(successors >= 1, "the number of successors is {}; must be at least 1", successors);
    expects(bias >= 0, "the bias is {}; must be at least 0", bias);
    const double failure = failure_per_set(delta, sets);
    // V is constant on what can follow, and so is seen without noise.
    if (successors == 1) return bias;
    // The noise's norm is convex in V, so it is largest at one of the 2^S vertices of the box; 1 - V has the
    // noise of V with the other sign, so a union over half of them makes the bound uniform [theory §1.7].
    const double pairs = static_cast<double>(successors - 1) * std::log(2.0);
    return bias + value_noise * std::sqrt(std::fmax(0.0, log_determinant) + 2 * (pairs - std::log(failure)));
}

double projected_radius(double radius, double residual, double gap) {
    // |theta - theta~|^2 = |theta - theta^|^2 - residual^2 + 2 <theta^ - theta~, theta - theta~>, and that
    // product is at most the gap; a negative square proves that no member is so near [theory §3a].
    const double square = radius * radius - residual * residual + 2 * gap;
    return square >= 0 ? std::sqrt(square) : std::numeric_limits<double>::quiet_NaN();
}

double rounding_slack(Index horizon) {
    return 1e-9 * static_cast<double>(horizon);
}

}  // namespace alidade::detail
