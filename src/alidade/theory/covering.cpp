#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/bounds.hpp"
#include "radii.hpp"

namespace alidade {

using detail::log_det_bound;
using detail::value_noise;

namespace {

/// Values clip(max_a w.phi + b |phi|) in [0, H], |w| <= L and 0 <= b <= B, |phi| in the inverse of a
/// precision of at least I; and what their regressions rest on.
struct CoveredClass {
    double d = 1, H = 1, K = 1;
    double information = 0;  ///< bound of the log-determinant
    double level = 0;        ///< log(1/failure)
    CoveringConstants constants = CoveringConstants::cited;
    double B = 0;
};

/// The logarithm of the size of a net of a ball, 1 + `diameters` squared for each dimension, where the square
/// may exceed what a double holds.
double log_net(double dimension, double diameters) {
    return dimension * 2 * std::log(std::hypot(1.0, diameters));
}

/// The logarithm of how many functions are needed to have one within `fineness` of each, at most
/// [docs/bounds.md, Lemma 2].
double log_covering_number(const CoveredClass& values, double fineness) {
    const double d = values.d, bonus = values.B / fineness;
    if (values.constants == CoveringConstants::cited) {
        // Jin et al. (2020), Lemma D.6, L of Lemma B.2; this L holds a linear reward's weights besides.
        const double L = 2 * values.H * std::sqrt(d * values.K);
        return log_net(d, 2 * std::sqrt(L) / std::sqrt(fineness)) +
               log_net(d * d, std::sqrt(8 * std::sqrt(d)) * bonus);
    }
    // Symmetric matrices between 0 and B^2 I, in the operator norm; |Lambda^-1 X'| <= 1/2.
    const double L = values.H * std::sqrt(values.K) / 2 + std::sqrt(d);
    return log_net(d, 2 * std::sqrt(L) / std::sqrt(fineness)) + log_net(d * (d + 1) / 2, 2 * bonus);
}

/// A radius for all values of the class by a covering of this fineness; every fineness gives a valid one.
double covering_radius_at(const CoveredClass& values, double fineness) {
    const double d = values.d, H = values.H, K = values.K;
    const double events = log_covering_number(values, fineness) + values.level;
    const double shrinkage = H * std::sqrt(d);
    if (values.constants == CoveringConstants::cited) {
        // Jin et al. (2020), Lemma D.4.
        const double off = K * fineness;
        return std::sqrt(4 * H * H * (d / 2 * std::log1p(K) + events) + 8 * off * off) + shrinkage;
    }
    // Half the range for the noise, the triangle inequality, and |X' e| <= |e| in the dual metric
    // [docs/bounds.md, Lemma 1].
    return H * value_noise * std::sqrt(values.information + 2 * events) + 2 * fineness * std::sqrt(K) +
           shrinkage;
}

/// The least radius over all finenesses, by golden section in their logarithm, where it has one minimum
/// [docs/bounds.md, Linear MDPs].
double best_covering_radius(const CoveredClass& values) {
    constexpr int steps = 90;
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    // The best is some d H/K to d H/sqrt(K).
    double low = std::log(values.H / values.K) - 10, high = std::log(values.H * values.d) + 10;
    const auto at = [&](double x) { return covering_radius_at(values, std::exp(x)); };
    double left = high - ratio * (high - low), right = low + ratio * (high - low);
    double at_left = at(left), at_right = at(right);
    for (int i = 0; i < steps; ++i)
        if (at_left < at_right) {
            high = right, right = left, at_right = at_left;
            left = high - ratio * (high - low), at_left = at(left);
        } else {
            low = left, left = right, at_left = at_right;
            right = low + ratio * (high - low), at_right = at(right);
        }
    return std::fmin(at_left, at_right);
}

}  // namespace

double linear_mdp_covering_radius(const BoundSetting& setting, double episodes, double failure,
                                  CoveringConstants constants, CoveredValues values) {
    validate(setting);
    validate_episodes(episodes);
    expects(failure > 0 && failure < 1, "failure probability is {}; must be greater than 0 and less than 1",
            failure);
    CoveredClass covered{.d = static_cast<double>(setting.features),
                         .H = static_cast<double>(setting.horizon),
                         .K = episodes,
                         .information = log_det_bound({.dimension = setting.features, .rows = episodes}),
                         .level = -std::log(failure),
                         .constants = constants};
    const double bonuses = values == CoveredValues::both ? 2 : 1;
    // The values hold the radius, so it stands on both sides. The right side grows with it, as the root of a
    // logarithm; going upward from below never passes the least radius that suffices, and ends there.
    constexpr int most = 10'000;
    double radius = covered.H * std::sqrt(covered.d);
    for (int i = 0; i < most; ++i) {
        covered.B = bonuses * radius;
        const double next = best_covering_radius(covered);
        expects(std::isfinite(next),
                "the radius after {} episodes exceeds what a number of double precision holds", episodes);
        if (next <= radius) return radius;
        radius = next;
    }
    throw BrokenInvariant(fmt::format("no radius after {} steps, at {}", most, radius));
}

}  // namespace alidade
