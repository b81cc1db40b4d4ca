#include "alidade/theory/bounds.hpp"

#include <cmath>

#include "fixed_point.hpp"
#include "radii.hpp"

namespace alidade {

using detail::azuma_deviation;
using detail::bernstein_radius;
using detail::log_det_bound;
using detail::potential_bound;
using detail::RegressionSize;

namespace {

constexpr double bias = 1;  // sqrt(lambda) B, as lambda = B^-2

/// Rows phi/sigma-bar: |phi| <= H and sigma-bar >= H/sqrt(d), so |x| <= sqrt(d) [paper, L700].
RegressionSize weighted_rows(const BoundSetting& setting, double episodes) {
    return {.dimension = setting.features,
            .rows = episodes,
            .row_norm = std::sqrt(static_cast<double>(setting.features)),
            .regularisation = 1 / (setting.norm_bound * setting.norm_bound)};
}

/// Rows phi of functions with values in [0, bound].
RegressionSize plain_rows(const BoundSetting& setting, double episodes, double bound) {
    return {.dimension = setting.features,
            .rows = episodes,
            .row_norm = bound,
            .regularisation = 1 / (setting.norm_bound * setting.norm_bound)};
}

BernsteinRadius printed_radii(const BoundSetting& setting, double episodes) {
    const auto H = static_cast<double>(setting.horizon);
    const auto d = static_cast<double>(setting.features);
    // As printed, to compare with: what is wrong is mended in safe_radii [theory §2, errata 7, 8 and 9].
    const double level = std::log(32 * H / setting.delta) + 2 * std::log(episodes);
    const double first = std::sqrt(log_det_bound(plain_rows(setting, episodes, H)) * level);
    const double second = std::sqrt(log_det_bound(plain_rows(setting, episodes, H * H)) * level);
    return {16 * first + bias, 16 * std::sqrt(d) * first + bias, 16 * H * H * second + bias};
}

BernsteinRadius safe_radii(const BoundSetting& setting, double episodes) {
    const auto H = static_cast<double>(setting.horizon);
    const double root = std::sqrt(static_cast<double>(setting.features));
    // Seven families of H sets: 7/16 of delta; the rest is for Azuma [theory §1.5].
    const double failure = setting.delta / (16 * H);
    const RegressionSize weighted = weighted_rows(setting, episodes);
    const RegressionSize squares = plain_rows(setting, episodes, H * H);
    return {bernstein_radius(weighted, 1, root, failure) + bias,
            bernstein_radius(weighted, root, root, failure) + bias,
            bernstein_radius(squares, H * H, H * H, failure) + bias};
}

/// Bounds of the two martingale sums: of values, in [-H, H] a step, and of variances, in [-H^2, H^2].
struct Martingales {
    double values = 0, variances = 0;
};

Martingales martingales(const BoundSetting& setting, double episodes, BernsteinRadii kind) {
    const auto H = static_cast<double>(setting.horizon);
    // The sum over steps is bounded from every step on, each with an event of its own, which the
    // printed level forgets.
    const double steps = kind == BernsteinRadii::safe ? H : 1;
    return {azuma_deviation(H * episodes, 2 * H, setting.delta / (8 * steps)),
            azuma_deviation(H * episodes, 2 * H * H, setting.delta / 8)};
}

}  // namespace

BernsteinRadius bernstein_radii(const BoundSetting& setting, double episodes, BernsteinRadii kind) {
    validate(setting);
    validate_episodes(episodes);
    return kind == BernsteinRadii::printed ? printed_radii(setting, episodes) : safe_radii(setting, episodes);
}

double bernstein_value_sum(const BoundSetting& setting, double episodes, BernsteinRadii kind) {
    const BernsteinRadius radius = bernstein_radii(setting, episodes, kind);
    const Martingales martingale = martingales(setting, episodes, kind);
    const auto H = static_cast<double>(setting.horizon);
    const auto d = static_cast<double>(setting.features);
    // Sums of min{1, |x|} over steps and episodes: over weighted rows by sqrt(potential * sum of variances),
    // over plain ones by Cauchy-Schwarz over episodes.
    const double potential = H * potential_bound(weighted_rows(setting, episodes));
    const double squares =
        radius.squares * H * std::sqrt(episodes * potential_bound(plain_rows(setting, episodes, H * H)));
    const double floor = H * H * H * episodes / d;  // sigma-bar^2 >= H^2/d
    const double correction = 4 * H * radius.coarse * std::sqrt(potential);

    // Of u_1: the variances add up to those of the whole episode, at most H^2 [paper, L949].
    const double variances1 =
        detail::self_bounded(floor + H * H * episodes + 4 * squares + martingale.variances, correction);
    const double first = radius.weighted * std::sqrt(potential * variances1);

    // Of u_2: its variances are at most H times the values, of which each step's sum is at most the A
    // sought, A = first + 4 second + martingale with second = beta-hat sqrt(potential * variances2). All
    // is linear in sqrt(variances2).
    const double slope = radius.weighted * std::sqrt(potential);
    const double constant = floor + 2 * squares + H * martingale.values + H * H * (first + martingale.values);
    const double variances2 = detail::self_bounded(constant, correction + (2 * H + 4 * H * H) * slope);
    return first + 4 * slope * std::sqrt(variances2) + martingale.values;
}

double bernstein_guarantee(const BoundSetting& setting, double episodes, BernsteinRadii kind) {
    return 4 * bernstein_value_sum(setting, episodes, kind) / episodes;
}

double bernstein_episodes(const BoundSetting& setting, double epsilon, BernsteinRadii kind) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point(
        [&](double episodes) { return 4 * bernstein_value_sum(setting, episodes, kind) / epsilon; });
}

}  // namespace alidade
