#include "alidade/theory/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "fixed_point.hpp"
#include "radii.hpp"

namespace alidade {

using detail::azuma_deviation;
using detail::failure_per_set;
using detail::log_det_bound;
using detail::potential_bound;
using detail::prior_bias;
using detail::RegressionSize;
using detail::ridge_regularisation;
using detail::self_normalised_radius;
using detail::switch_bound;

namespace {

bool nothing_to_learn(const BoundSetting& setting) {
    return setting.horizon == 1 || setting.features == 1;
}

/// Rows psi_V, V in {0,1}: deviations of d numbers in [0,1] from their mean, so |x|^2 <= d/4.
RegressionSize rows(const BoundSetting& setting, double episodes) {
    return {.dimension = setting.features - 1,
            .rows = episodes,
            .row_norm = std::sqrt(static_cast<double>(setting.features)) / 2,
            .regularisation = ridge_regularisation(1, true)};
}

}  // namespace

double sharp_radius_bound(const BoundSetting& setting, double episodes, double failure) {
    validate(setting);
    validate_episodes(episodes);
    expects(!nothing_to_learn(setting), "{} features and horizon {}; both must be at least 2",
            setting.features, setting.horizon);
    const RegressionSize size = rows(setting, episodes);
    const double each = failure_per_set(failure, setting.horizon - 1);
    // |theta - theta_0| on the simplex, largest at a vertex [theory §3d].
    const double spread = std::sqrt(1 - 1 / static_cast<double>(setting.features));
    return self_normalised_radius(log_det_bound(size), each) + prior_bias(size.regularisation, spread);
}

double sharp_guarantee(const BoundSetting& setting, double episodes, double growth) {
    validate(setting);
    validate_episodes(episodes);
    expects(growth >= 0, "growth of the determinant is {}; must be at least 0", growth);
    if (nothing_to_learn(setting)) return 0;
    const auto H = static_cast<double>(setting.horizon);
    const double radius = sharp_radius_bound(setting, episodes, setting.delta / 2);
    // Sum over ranges r = 1 .. H-1 of max{r, (2r-1) radius}, each at most (2r-1) max{1, radius}.
    const double bonuses = (H - 1) * (H - 1) * std::max(1.0, radius);
    // Cauchy-Schwarz over episodes, and the potential lemma; between policies norms lag by sqrt(1+growth) at
    // most [theory §3e].
    const double norms = std::sqrt((1 + growth) * episodes * potential_bound(rows(setting, episodes)));
    // One martingale difference at the start and at each step, with ranges H-1, ..., 1.
    const double squared_ranges = (H - 1) * H * (2 * H - 1) / 6;
    const double martingale = azuma_deviation(episodes, std::sqrt(squared_ranges), setting.delta / 2);
    return 2 * (bonuses * norms + martingale) / episodes;
}

double sharp_episodes(const BoundSetting& setting, double epsilon, double growth) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point(
        [&](double episodes) { return episodes * sharp_guarantee(setting, episodes, growth) / epsilon; });
}

double sharp_policies(const BoundSetting& setting, double episodes, double growth) {
    validate(setting);
    validate_episodes(episodes);
    if (nothing_to_learn(setting)) return 1;
    return switch_bound(rows(setting, episodes), setting.horizon - 1, growth);
}

}  // namespace alidade
