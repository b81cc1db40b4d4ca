#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/bounds.hpp"
#include "fixed_point.hpp"
#include "radii.hpp"

namespace alidade {

namespace {

/// The guarantee is slow/K + fast/sqrt(K), where both grow with K like logarithms.
struct HorizonFreeParts {
    double slow = 0, fast = 0;
};

// HF-UCRL-RFE++ [docs/bounds.md, A total of at most 1]: alpha^2 = 1/H, gamma^2 = 1/sqrt(d), lambda = d/B^2.
HorizonFreeParts horizon_free_parts(const BoundSetting& setting, double episodes) {
    const auto d = static_cast<double>(setting.features), H = static_cast<double>(setting.horizon);
    // All of it is of K H >= 3 steps: a logarithm of a logarithm is to be positive.
    const double steps = std::max(3.0, episodes * H);
    const double moments = std::ceil(std::log2(7 * steps));
    const double failure = setting.delta / (4 * moments);
    const double gamma = 1 / std::sqrt(d), regularisation = d / (setting.norm_bound * setting.norm_bound);
    const double size = std::log1p(steps * H / (d * regularisation));
    const double levels = std::max(0.0, std::log(gamma * std::sqrt(H))) + 1;
    const double tail = std::log(32 * levels * steps * steps / failure);
    const double radius =
        12 * std::sqrt(d * size * tail) + 30 * tail / gamma + std::sqrt(regularisation) * setting.norm_bound;
    const double potential = d * size, martingale = 4 * std::log(4 * std::log(steps) / failure);
    return {4 * (896 * std::max(64 * radius * radius * potential, 2 * martingale) + 24 * martingale +
                 240 * potential + 240 * radius * gamma * potential +
                 120 * radius * potential * std::sqrt(moments) +
                 24 * std::sqrt(martingale * moments * potential) + moments * potential),
            4 * (64 * std::max(8 * radius * std::sqrt(potential), std::sqrt(2 * martingale)) +
                 120 * radius * std::sqrt(potential))};
}

void validate_total(const BoundSetting& setting, double epsilon) {
    validate(setting);
    expects(epsilon > 0 && epsilon <= 1, "epsilon is {}; must be in (0, 1], the total that can be lost",
            epsilon);
}

}  // namespace

double horizon_free_guarantee(const BoundSetting& setting, double episodes) {
    validate(setting);
    validate_episodes(episodes);
    const HorizonFreeParts parts = horizon_free_parts(setting, episodes);
    return parts.slow / episodes + parts.fast / std::sqrt(episodes);
}

double horizon_free_episodes(const BoundSetting& setting, double epsilon) {
    validate_total(setting, epsilon);
    return detail::least_fixed_point([&](double episodes) {
        const auto [slow, fast] = horizon_free_parts(setting, episodes);
        // The root of epsilon x^2 = fast x + slow in x = sqrt(K).
        const double root = (fast + std::sqrt(fast * fast + 4 * epsilon * slow)) / (2 * epsilon);
        return root * root;
    });
}

double trajectory_rate(const BoundSetting& setting, double epsilon, bool pooled) {
    validate_total(setting, epsilon);
    if (setting.horizon == 1 || setting.features == 1) return 0;
    const auto p = static_cast<double>(setting.features - 1),
               steps = static_cast<double>(setting.horizon - 1);
    return detail::least_fixed_point([&](double episodes) {
        const double regret = detail::mixture_regret(pooled ? steps * episodes : episodes, setting.features);
        const double allowance =
            detail::likelihood_allowance(regret, 2, pooled ? 1 : setting.horizon - 1, setting.delta);
        return 2 * allowance * p * (pooled ? 1 : steps) / (epsilon * epsilon);
    });
}

}  // namespace alidade
