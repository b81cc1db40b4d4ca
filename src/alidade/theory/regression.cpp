#include "alidade/theory/radii.hpp"

#include <cmath>
#include <limits>

#include "alidade/error.hpp"

namespace alidade {

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
    return misspecification * std::sqrt(static_cast<double>(observations));
}

double projected_radius(double radius, double residual, double gap) {
    const double square = radius * radius - residual * residual + 2 * gap;
    return square >= 0 ? std::sqrt(square) : std::numeric_limits<double>::quiet_NaN();
}

double rounding_slack(Index horizon) {
    return 1e-9 * static_cast<double>(horizon);
}

}  // namespace alidade
