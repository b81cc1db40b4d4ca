#include "alidade/certify/near_reward.hpp"

#include <algorithm>
#include <cmath>

#include "../theory/radii.hpp"
#include "advantage.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "interval_loss.hpp"
#include "near_widening.hpp"

namespace alidade {

namespace {

double mean_over_start(const LearnedModel& learned, const Matrix& values) {
    const Vector first = values.row(0).transpose();
    return learned.model().start().expect({first.data(), static_cast<std::size_t>(first.size())});
}

/// r_0 + sign eta, as it is: H*S*A numbers, or S*A for all steps alike.
std::vector<double> end_of(const Reward& reward, const RewardTolerance& tolerance, double sign) {
    const Shape& shape = reward.shape();
    const bool stationary = reward.stationary() && tolerance.unit.stationary();
    std::vector<double> values;
    for (Step h = 0; h < (stationary ? 1 : shape.horizon); ++h)
        for (std::size_t pair = 0; pair < at(shape.pairs()); ++pair)
            values.push_back(reward.at(h)[pair] + sign * tolerance.eta * tolerance.unit.at(h)[pair]);
    return values;
}

/// What values under all the rewards are between.
struct NearValues {
    Matrix optimal_upper, policy_lower;  ///< H+1 rows of S
    double highest = 1, lowest = 0;      ///< of the rewards, if beyond [0, 1]
};

/// Rewards beyond [0, 1] are brought into it by an affine map, and their values back.
NearValues near_values(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                       const RewardTolerance& tolerance, Threads threads) {
    const Shape& shape = learned.shape();
    NearValues result;
    std::vector<double> high = end_of(reward, tolerance, 1), low = end_of(reward, tolerance, -1);
    result.highest = std::max(1.0, std::ranges::max(high));
    result.lowest = std::min(0.0, std::ranges::min(low));
    for (double& value : high) value = std::min(1.0, value / result.highest);
    const double scale = 1 - result.lowest;
    for (double& value : low) value = std::clamp((value - result.lowest) / scale, 0.0, 1.0);
    result.optimal_upper =
        result.highest * value_bounds(learned, Reward(shape, std::move(high)), policy, threads).optimal_upper;
    result.policy_lower =
        scale * value_bounds(learned, Reward(shape, std::move(low)), policy, threads).policy_lower;
    for (Step h = 0; h < shape.horizon; ++h)
        result.policy_lower.row(h).array() += static_cast<double>(shape.horizon - h) * result.lowest;
    return result;
}

/// No loss is larger: at every step the largest difference of two rewards, 1 at least as of all in [0, 1].
double largest_loss(const Reward& reward, const RewardTolerance& tolerance) {
    const std::vector<double> high = end_of(reward, tolerance, 1), low = end_of(reward, tolerance, -1);
    const double apart = std::ranges::max(high) - std::ranges::min(low);
    return static_cast<double>(reward.shape().horizon) * std::max(1.0, apart);
}

}  // namespace

NearCertificate certify_near(const Knowledge& knowledge, const DeviationTable& deviations,
                             const Reward& reward, const Policy& policy, const RewardTolerance& tolerance,
                             Threads threads) {
    // Checks the knowledge, the reward and the policy, too.
    const RewardCertificate own = certify_reward(knowledge, deviations, reward, policy, threads);
    const LearnedModel& learned = *knowledge.learned;
    const Shape& shape = learned.shape();
    expects(tolerance.unit.shape() == shape,
            "the tolerance's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    expects(std::isfinite(tolerance.eta) && tolerance.eta >= 0,
            "the tolerance is {}; must be finite and not negative", tolerance.eta);
    const NearValues values = near_values(learned, reward, policy, tolerance, threads);
    const ValueBounds bounds = value_bounds(learned, reward, policy, threads);
    const ValueBounds unit = value_bounds(learned, tolerance.unit, policy, threads);
    const double slack =
        (values.highest - values.lowest) * (1 + tolerance.eta) * detail::rounding_slack(shape.horizon);
    const Matrix most = (values.optimal_upper - values.policy_lower).array() + 2 * slack;
    const std::vector<char> reachable = detail::reachable_states(learned);
    const detail::NearRewards near{tolerance.unit, tolerance.eta, unit.policy_upper, most, reachable};
    NearCertificate certificate;
    certificate.failure_probability = learned.delta();
    certificate.most = largest_loss(reward, tolerance);
    certificate.methods.emplace_back("plain", mean_over_start(learned, most));
    double margin = 0;
    if (const LearnedMixture* mixture = learned.mixture()) {
        const detail::AdvantageBounds losses =
            detail::advantage_bounds(*mixture, deviations, reward, policy, bounds, threads, &near);
        margin = losses.margin;
        certificate.methods.emplace_back("advantage", losses.advantage);
    } else {
        const detail::NearLoss found =
            detail::interval_loss(learned, deviations, reward, policy, bounds, near, threads);
        margin = found.margin;
        certificate.methods.emplace_back("gap", found.loss);
    }
    // V^{pi',r} - V^{pi,r} is what it is for r_0, and at most eta times what either can collect of `unit`.
    const double moved = tolerance.eta * (mean_over_start(learned, unit.optimal_upper) +
                                          mean_over_start(learned, unit.policy_upper));
    certificate.methods.emplace_back("shift",
                                     moved > 0 ? own.loss_bound + moved + 2 * slack : own.loss_bound);
    double least = certificate.most;
    for (const auto& [name, bound] : certificate.methods) least = std::min(least, bound);
    certificate.vacuous = least >= certificate.most;
    certificate.loss_bound = std::max(0.0, least);
    if (margin >= 0) certificate.radius = margin;
    return certificate;
}

NearCertificate certify_near(const Knowledge& knowledge, const Reward& reward, const Policy& policy,
                             const RewardTolerance& tolerance, Threads threads) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    return certify_near(knowledge, DeviationTable::of(*knowledge.learned), reward, policy, tolerance,
                        threads);
}

}  // namespace alidade
