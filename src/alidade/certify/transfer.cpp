#include "transfer.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "set_backup.hpp"

namespace alidade::detail {

std::vector<double> transfer_errors(const LearnedModel& learned, const RewardCaps& caps) {
    const LearnedMixture* const mixture = learned.mixture();
    if (mixture == nullptr || !(mixture->misspecification() > 0)) return {};
    const double zeta = mixture->misspecification();
    std::vector<double> errors(at(learned.shape().horizon), 0.0);
    for (Step h = learned.shape().horizon - 2; h >= 0; --h)
        errors[at(h)] = (zeta * caps.of_step(h) + (1 - zeta) * errors[at(h + 1)]) * (1 + 1e-15);
    return errors;
}

namespace {

/// What the misspecification adds at one step, and what is left of the later steps' after it.
class TransferRecursion {
public:
    TransferRecursion(const LearnedMixture& learned, const Policy& policy, const ValueBounds& bounds)
        : learned_(learned),
          policy_(policy),
          bounds_(bounds),
          shape_(learned.shape()),
          backup_(learned),
          policy_errors_(at(shape_.states), 0.0),
          optimal_errors_(policy_errors_) {}

    TransferOfReward run() {
        for (Step h = shape_.horizon - 2; h >= 0; --h) step(h);
        const StartLaw& start = learned_.model().start();
        return {start.expect(policy_errors_), start.expect(optimal_errors_)};
    }

private:
    /// How much values in the mixtures, `upper` at most and V^pi at least, vary over what a pair may lead to.
    double span(const Matrix& upper, Step h, Index pair) const {
        double most = 0, least = static_cast<double>(shape_.horizon);
        const auto count = [&](State s) {
            most = std::max(most, upper(h + 1, s));
            least = std::min(least, bounds_.policy_lower(h + 1, s));
        };
        if (learned_.reach() == Reach::support)
            for (const std::int32_t target : learned_.model().successors().targets(pair)) count(target);
        else
            for (State s = 0; s < shape_.states; ++s) count(s);
        return std::max(0.0, most - least);
    }

    // (P - P_theta) V <= zeta span V, with V the mixture's value of the next step, and what is left follows
    // under the truth, which is among all that is left possible.
    void step(Step h) {
        const double zeta = learned_.misspecification();
        const bool everywhere = learned_.reach() == Reach::anywhere;
        // To all states alike: once a step, and what follows is a constant.
        const double of_policy = everywhere ? zeta * span(bounds_.policy_upper, h, 0) : 0;
        const double of_optimal = everywhere ? zeta * span(bounds_.optimal_upper, h, 0) : 0;
        if (everywhere) {
            const auto add = [](std::vector<double>& errors, double more) {
                for (double& error : errors) error = (error + more) * (1 + 1e-15);
            };
            add(policy_errors_, of_policy);
            add(optimal_errors_, of_optimal);
            return;
        }
        std::vector<double> policy(policy_errors_.size(), 0.0), optimal(policy);
        for (State s = 0; s < shape_.states; ++s)
            for (Action a = 0; a < shape_.actions; ++a) {
                const Index pair = shape_.pair(s, a);
                optimal[at(s)] = std::max(optimal[at(s)], zeta * span(bounds_.optimal_upper, h, pair) +
                                                              backup_.upper(h, pair, optimal_errors_));
                const double weight = policy_.probability(h, s, a);
                if (weight > 0)
                    policy[at(s)] += weight * (zeta * span(bounds_.policy_upper, h, pair) +
                                               backup_.upper(h, pair, policy_errors_));
            }
        policy_errors_ = std::move(policy);
        optimal_errors_ = std::move(optimal);
    }

    const LearnedMixture& learned_;
    const Policy& policy_;
    const ValueBounds& bounds_;
    const Shape& shape_;
    SetBackup backup_;
    std::vector<double> policy_errors_, optimal_errors_;
};

}  // namespace

TransferOfReward transfer_of_reward(const LearnedMixture& learned, const Policy& policy,
                                    const ValueBounds& bounds) {
    const std::vector<double> free = transfer_errors(learned, RewardCaps({learned.shape().horizon, true}));
    if (free.empty()) return {};
    const TransferOfReward spans = TransferRecursion(learned, policy, bounds).run();
    return {std::min(free.front(), spans.policy), std::min(free.front(), spans.optimal)};
}

}  // namespace alidade::detail
