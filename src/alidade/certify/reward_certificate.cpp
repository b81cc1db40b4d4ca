#include "alidade/certify/reward_certificate.hpp"

#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/theory/regression.hpp"
#include "set_backup.hpp"

namespace alidade {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

struct Bounds {
    double policy_lower, policy_upper, optimal_upper;
};

Bounds recurse(const LearnedModel& learned, const Reward& reward, const Policy& policy) {
    const Shape& shape = learned.shape();
    detail::SetBackup backup(learned);
    const std::vector<double> zero(at(shape.states), 0.0);
    std::vector<double> lower = zero, upper = zero, best = zero;
    std::vector<double> next_lower = zero, next_upper = zero, next_best = zero;
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const auto range = static_cast<double>(shape.steps_after(h) + 1);
        for (State s = 0; s < shape.states; ++s) {
            double most = 0, low = 0, high = 0;
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                const double r = reward.at(h, s, a);
                most = std::max(most, std::min(range, r + backup(h, pair, next_best).upper));
                const double weight = policy.probability(h, s, a);
                if (weight == 0) continue;
                low += weight * std::max(0.0, r + backup(h, pair, next_lower).lower);
                high += weight * std::min(range, r + backup(h, pair, next_upper).upper);
            }
            best[at(s)] = most;
            lower[at(s)] = low;
            upper[at(s)] = high;
        }
        std::swap(best, next_best);
        std::swap(lower, next_lower);
        std::swap(upper, next_upper);
    }
    const StartLaw& start = learned.model().start();
    return {start.expect(next_lower), start.expect(next_upper), start.expect(next_best)};
}

void settle(RewardCertificate& certificate, double horizon) {
    double least = certificate.methods.front().second;
    for (const auto& [name, bound] : certificate.methods) least = std::min(least, bound);
    certificate.vacuous = least >= horizon;
    certificate.loss_bound = std::clamp(least, 0.0, horizon);
}

}  // namespace

RewardCertificate certify_reward(const LearnedModel& learned, const Reward& reward, const Policy& policy) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape,
            "the reward's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    expects(policy.shape() == shape,
            "the policy's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    const Bounds bounds = recurse(learned, reward, policy);
    const auto horizon = static_cast<double>(shape.horizon);
    const double slack = rounding_slack(shape.horizon);
    RewardCertificate certificate;
    certificate.failure_probability = learned.delta();
    certificate.value = {std::max(0.0, bounds.policy_lower - slack),
                         std::min(horizon, bounds.policy_upper + slack)};
    certificate.optimal_upper = std::min(horizon, bounds.optimal_upper + slack);
    certificate.methods = {{"plain", certificate.optimal_upper - certificate.value.lower}};
    settle(certificate, horizon);
    return certificate;
}

RewardCertificate certify_reward(const Knowledge& knowledge, const Reward& reward, const Policy& policy) {
    RewardCertificate certificate = certify_reward(knowledge.learned, reward, policy);
    const MixtureModel& model = knowledge.learned.model();
    const double shortfall = backward_induction(model, reward).value - evaluate(model, policy, reward).value;
    certificate.methods.emplace_back("reward-free", knowledge.certificate.bound + std::max(0.0, shortfall) +
                                                        rounding_slack(knowledge.learned.shape().horizon));
    settle(certificate, static_cast<double>(knowledge.learned.shape().horizon));
    return certificate;
}

}  // namespace alidade
