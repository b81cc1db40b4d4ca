#include "alidade/theory/bounds.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/radii.hpp"
#include "fixed_point.hpp"

namespace alidade {
namespace {

/// log(dH/(delta epsilon)), greater than 0 as epsilon <= H and delta < 1.
double printed_logarithm(const BoundSetting& setting, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return std::log(static_cast<double>(setting.features) * static_cast<double>(setting.horizon) /
                    (setting.delta * epsilon));
}

}  // namespace

double linear_mdp_printed_radius(const BoundSetting& setting, double epsilon, double c_beta) {
    const double size = static_cast<double>(setting.features) * static_cast<double>(setting.horizon);
    return c_beta * size * std::sqrt(printed_logarithm(setting, epsilon));
}

double linear_mdp_printed_episodes(const BoundSetting& setting, double epsilon, double c_K) {
    const auto d = static_cast<double>(setting.features);
    const auto H = static_cast<double>(setting.horizon);
    const double ratio = d * H * H / epsilon;
    return c_K * d * ratio * ratio * printed_logarithm(setting, epsilon);
}

double linear_mdp_radius(const LinearMdpEvidence& evidence, Index features, double failure) {
    expects(evidence.states >= 1, "the number of states is {}; must be at least 1", evidence.states);
    expects(features >= 1, "the number of features is {}; must be at least 1", features);
    expects(failure > 0 && failure < 1, "failure probability is {}; must be greater than 0 and less than 1",
            failure);
    // The norm of the noise is convex in V, so it is largest at one of 2^S vertices, and a union over these
    // makes the bound uniform over all V [theory §1.7].
    const double vertices = static_cast<double>(evidence.states) * std::log(2.0);
    const double noise =
        value_noise * std::sqrt(evidence.log_det_ratio + 2 * (vertices + std::log(1 / failure)));
    return evidence.range * (noise + std::sqrt(evidence.regularisation * static_cast<double>(features)));
}

double linear_mdp_guarantee(const BoundSetting& setting, Index states, double episodes) {
    validate(setting);
    validate_episodes(episodes);
    const auto H = static_cast<double>(setting.horizon);
    const RegressionSize rows{.dimension = setting.features, .rows = episodes};
    const double radius = linear_mdp_radius(
        {.states = states, .range = H, .log_det_ratio = log_det_bound(rows), .regularisation = 1},
        setting.features, setting.delta / (2 * H));
    // Exploration: reward, bonus and regression error, three radii a step; as the radius exceeds H, clipping
    // at H turns |phi| into min{1, |phi|}. Planning: twice the mean of the values [theory §2, erratum 49].
    const double bonuses = 3 * radius * H * std::sqrt(episodes * potential_bound(rows));
    return 2 * (bonuses + azuma_deviation(H * episodes, H, setting.delta / 2)) / episodes;
}

double linear_mdp_episodes(const BoundSetting& setting, Index states, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point([&](double episodes) {
        return episodes * linear_mdp_guarantee(setting, states, episodes) / epsilon;
    });
}

}  // namespace alidade
