#include "alidade/theory/bounds.hpp"

#include <cmath>

#include "fixed_point.hpp"

namespace alidade {

double hoeffding_iota1(const BoundSetting& setting, double episodes) {
    validate(setting);
    validate_episodes(episodes);
    const auto H = static_cast<double>(setting.horizon);
    const double B = setting.norm_bound;
    return std::log(4 * H * H * H * B * B / setting.delta) + std::log(episodes);
}

double hoeffding_iota2(const BoundSetting& setting, double episodes) {
    validate(setting);
    validate_episodes(episodes);
    const auto H = static_cast<double>(setting.horizon);
    const auto d = static_cast<double>(setting.features);
    const double B = setting.norm_bound;
    return std::log1p(episodes * H * H * B * B / d);
}

double hoeffding_radius(const BoundSetting& setting, double episodes) {
    const auto H = static_cast<double>(setting.horizon);
    const auto d = static_cast<double>(setting.features);
    constexpr double ridge_bias = 1;  // sqrt(lambda) B, as lambda = B^-2
    return H * std::sqrt(d * hoeffding_iota1(setting, episodes)) + ridge_bias;
}

double hoeffding_guarantee(const BoundSetting& setting, double episodes) {
    const auto H = static_cast<double>(setting.horizon);
    const auto d = static_cast<double>(setting.features);
    const double logs = hoeffding_iota1(setting, episodes) * hoeffding_iota2(setting, episodes);
    // Four times the mean of V_k, whose sum is at most 6 H^2 d sqrt(K iota_1 iota_2) for H >= 2 [theory §4;
    // T6].
    return 24 * H * H * d * std::sqrt(logs / episodes);
}

double hoeffding_episodes(const BoundSetting& setting, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    return detail::least_fixed_point([&](double episodes) {
        const double ratio = hoeffding_guarantee(setting, episodes) / epsilon;
        // 576 H^4 d^2 iota_1 iota_2 / epsilon^2, which does not fall with K [theory §1.2].
        return episodes * ratio * ratio;
    });
}

}  // namespace alidade
