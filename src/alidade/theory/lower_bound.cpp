#include "alidade/theory/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {
namespace {

bool hard_instances_exist(const BoundSetting& setting) {
    return setting.horizon >= 2 && setting.features >= 2 && setting.norm_bound > 1;
}

/// With Delta = t/sqrt(HK), the expected loss is at least (d-1) f(t)/sqrt(HK), f(t) = t (top - slope t).
struct Tradeoff {
    double top = 0, slope = 0;
    double best() const { return top / (2 * slope); }
    double at(double t) const { return t * (top - slope * t); }
};

Tradeoff tradeoff(const HardInstance& instance, double delta) {
    return {instance.least - 2 * delta * instance.largest, instance.least * instance.signal};
}

}  // namespace

double lower_bound_rate(const BoundSetting& setting, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    const auto H = static_cast<double>(setting.horizon);
    const double ratio = static_cast<double>(setting.features) / epsilon;
    return ratio * ratio * H * H * H;
}

HardInstance hard_instance(const BoundSetting& setting) {
    validate(setting);
    expects(hard_instances_exist(setting),
            "{} features, horizon {}, norm bound {}; must be at least 2, at least 2, greater than 1",
            setting.features, setting.horizon, setting.norm_bound);
    const auto H = static_cast<double>(setting.horizon);
    const double exit = 1 / H;
    HardInstance instance;
    instance.margin = std::min(exit / 2, setting.norm_bound - 1);
    // Sum over h of P(not out before h) * E[steps after h that a later exit would lose]: geometric sums,
    // with the largest exit probability, ...
    const double fast = 1 - exit - instance.margin;
    instance.least = ((1 - std::pow(fast, H)) / (1 - fast) - H * std::pow(fast, H - 1)) / (1 - fast);
    // ... and with the least of the policy and of the best one. The mixed geometric sum, H terms, is at
    // least H times their geometric mean.
    const double slow = 1 - exit + instance.margin, best = 1 - exit;
    instance.largest =
        ((1 - std::pow(slow, H)) / (1 - slow) - H * std::pow(slow * best, (H - 1) / 2)) / (1 - best);
    // Pinsker, and KL(p, q) <= (p-q)^2/(q(1-q)) with |p-q| = 2 Delta in each of K episodes.
    instance.signal = std::sqrt(2 / (H * (1 - slow) * slow));
    return instance;
}

double lower_bound_episodes(const BoundSetting& setting, double epsilon) {
    validate(setting);
    validate_accuracy(epsilon, setting.horizon);
    if (!hard_instances_exist(setting)) return 0;
    const HardInstance instance = hard_instance(setting);
    const Tradeoff f = tradeoff(instance, setting.delta);
    // Instances exist if (d-1) Delta <= m, that is t <= m sqrt(HK)/(d-1); at the bound's own K this is
    // epsilon <= m (top - slope t).
    const double t = std::min(f.best(), (f.top - epsilon / instance.margin) / f.slope);
    if (!(t > 0)) return 0;
    const auto H = static_cast<double>(setting.horizon);
    const double root = static_cast<double>(setting.features - 1) * f.at(t) / epsilon;
    return std::ceil(root * root / H);
}

double lower_bound_accuracy(const BoundSetting& setting, double episodes) {
    validate(setting);
    validate_episodes(episodes);
    if (!hard_instances_exist(setting)) return 0;
    const HardInstance instance = hard_instance(setting);
    const Tradeoff f = tradeoff(instance, setting.delta);
    const double scale = std::sqrt(static_cast<double>(setting.horizon) * episodes) /
                         static_cast<double>(setting.features - 1);
    const double t = std::min(f.best(), instance.margin * scale);
    return t > 0 ? std::max(0.0, f.at(t) / scale) : 0;
}

}  // namespace alidade
