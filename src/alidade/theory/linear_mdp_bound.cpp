#include "alidade/theory/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "fixed_point.hpp"
#include "radii.hpp"

namespace alidade {

using detail::azuma_deviation;
using detail::failure_per_set;
using detail::linear_radius;
using detail::log_det_bound;
using detail::potential_bound;
using detail::RegressionSize;
using detail::value_noise;

namespace {

/// log(dH/(delta epsilon)), greater than 0 as epsilon <= H and delta < 1.
double printed_logarithm(const BoundSetting& setting, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return std::log(static_cast<double>(setting.features) * static_cast<double>(setting.horizon) /
                    (setting.delta * epsilon));
}

/// What each of the learned steps may fail with: half of delta is for the martingale of values. After the
/// last step all values are 0, and so is their regression.
double linear_step_failure(const BoundSetting& setting) {
    return failure_per_set(setting.delta / 2, std::max<Index>(1, setting.horizon - 1));
}

RegressionSize linear_rows(const BoundSetting& setting, double episodes) {
    return {.dimension = setting.features, .rows = episodes};
}

/// What Algorithms 3 and 4 guarantee with a radius of at least H that all their values respect.
double linear_guarantee(const BoundSetting& setting, double episodes, double radius) {
    const auto H = static_cast<double>(setting.horizon);
    // Exploration: reward, bonus and regression error, three radii a step; as the radius is at least H,
    // clipping at H turns |phi| into min{1, |phi|}. Planning: twice the mean of the values [theory §2,
    // erratum 49].
    const double potential = potential_bound(linear_rows(setting, episodes));
    const double bonuses = 3 * radius * H * std::sqrt(episodes * potential);
    return 2 * (bonuses + azuma_deviation(H * episodes, H, setting.delta / 2)) / episodes;
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

double linear_mdp_radius(const BoundSetting& setting, Index states, double episodes, double failure) {
    validate(setting);
    validate_episodes(episodes);
    expects(states >= 1, "the number of states is {}; must be at least 1", states);
    const double information = log_det_bound(linear_rows(setting, episodes));
    const double shrinkage = std::sqrt(static_cast<double>(setting.features));
    return static_cast<double>(setting.horizon) * linear_radius(information, states, 1, failure, shrinkage);
}

double linear_mdp_guarantee(const BoundSetting& setting, Index states, double episodes) {
    validate(setting);
    const double failure = linear_step_failure(setting);
    return linear_guarantee(setting, episodes, linear_mdp_radius(setting, states, episodes, failure));
}

double linear_mdp_episodes(const BoundSetting& setting, Index states, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point([&](double episodes) {
        return episodes * linear_mdp_guarantee(setting, states, episodes) / epsilon;
    });
}

double linear_mdp_covering_guarantee(const BoundSetting& setting, double episodes,
                                     CoveringConstants constants) {
    validate(setting);
    const double failure = linear_step_failure(setting);
    return linear_guarantee(setting, episodes,
                            linear_mdp_covering_radius(setting, episodes, failure, constants));
}

double linear_mdp_covering_episodes(const BoundSetting& setting, double epsilon,
                                    CoveringConstants constants) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point([&](double episodes) {
        return episodes * linear_mdp_covering_guarantee(setting, episodes, constants) / epsilon;
    });
}

LinearMdpMeeting linear_mdp_meeting(const BoundSetting& setting, double episodes,
                                    CoveringConstants constants) {
    validate(setting);
    const double failure = linear_step_failure(setting);
    const double radius = linear_mdp_covering_radius(setting, episodes, failure, constants);
    // H [1/2 sqrt(information + 2 ((S-1) ln 2 + ln(1/failure))) + sqrt(d)] <= radius, solved for S.
    const double noise =
        radius / static_cast<double>(setting.horizon) - std::sqrt(static_cast<double>(setting.features));
    const double square = noise * noise / (value_noise * value_noise);
    const double left = (square - log_det_bound(linear_rows(setting, episodes))) / 2 + std::log(failure);
    return {.radius = radius, .states = 1 + std::floor(std::fmax(0.0, left / std::log(2.0)))};
}

}  // namespace alidade
