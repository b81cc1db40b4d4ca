#include "alidade/certify/reward_certificate.hpp"

#include <algorithm>

#include "../model/parallel.hpp"
#include "../theory/radii.hpp"
#include "advantage.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "interval_loss.hpp"
#include "model_gaps.hpp"
#include "sharper_certificate.hpp"
#include "transfer.hpp"

namespace alidade {

namespace {

double start_value(const LearnedModel& learned, const Matrix& values) {
    const Vector first = values.row(0).transpose();
    return learned.model().start().expect({first.data(), static_cast<std::size_t>(first.size())});
}

const LearnedModel& learned_of(const Knowledge& knowledge) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    return *knowledge.learned;
}

/// What is certain of the mixture that the truth is near, and the rest of the way: both hold on the same
/// event as the rest, so the better of both is taken. Without it the expansions of `advantage` would be lost,
/// which are of one kernel [misspecification, Lemma 7].
void take_transfer(const LearnedMixture& learned, const DeviationTable& deviations, const Reward& reward,
                   const Policy& policy, Threads threads, int sharpened, detail::AdvantageBounds& losses) {
    const LearnedMixture mixtures = learned.exact();
    const ValueBounds bounds = value_bounds(mixtures, reward, policy, threads);
    const detail::AdvantageBounds of_mixtures =
        detail::advantage_bounds(mixtures, deviations.without(learned.misspecification()), reward, policy,
                                 bounds, threads, nullptr, sharpened);
    const detail::TransferOfReward rest = detail::transfer_of_reward(learned, policy, bounds);
    const double slack = detail::rounding_slack(learned.shape().horizon);
    const double both = rest.policy + rest.optimal + slack;
    losses.advantage = std::min(losses.advantage, of_mixtures.advantage + both);
    losses.gap = std::min(losses.gap, of_mixtures.gap + both);
    const double lower = std::max(of_mixtures.value.lower, start_value(learned, bounds.policy_lower)),
                 upper = std::min(of_mixtures.value.upper, start_value(learned, bounds.policy_upper));
    losses.value = {std::max(losses.value.lower, lower - rest.policy - slack),
                    std::min(losses.value.upper, upper + rest.policy + slack)};
}

void settle(RewardCertificate& certificate, double horizon) {
    // All methods hold on the same event, so their least does.
    double least = certificate.methods.front().second;
    for (const auto& [name, bound] : certificate.methods) least = std::min(least, bound);
    certificate.vacuous = least >= horizon;
    certificate.loss_bound = std::clamp(least, 0.0, horizon);
}

RewardCertificate by_model(const LearnedModel& learned, const DeviationTable& deviations,
                           const Reward& reward, const Policy& policy, Threads threads, int sharpened) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape,
            "the reward's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    expects(policy.shape() == shape,
            "the policy's shape is not the model's ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    const ValueBounds bounds = value_bounds(learned, reward, policy, threads);
    const auto horizon = static_cast<double>(shape.horizon);
    const double slack = detail::rounding_slack(shape.horizon);
    RewardCertificate certificate;
    certificate.failure_probability = learned.delta();
    const Interval by_states{std::max(0.0, start_value(learned, bounds.policy_lower) - slack),
                             std::min(horizon, start_value(learned, bounds.policy_upper) + slack)};
    certificate.value = by_states;
    certificate.optimal_upper = std::min(horizon, start_value(learned, bounds.optimal_upper) + slack);
    // The recursions of the loss are cut at U - L, so all that they could be above is rounding.
    const double plain = certificate.optimal_upper - by_states.lower;
    certificate.methods = {{"plain", plain}};
    if (const LearnedMixture* mixture = learned.mixture()) {
        detail::AdvantageBounds losses = detail::advantage_bounds(*mixture, deviations, reward, policy,
                                                                  bounds, threads, nullptr, sharpened);
        if (mixture->misspecification() > 0)
            take_transfer(*mixture, deviations, reward, policy, threads, sharpened, losses);
        // One interval lets every state choose its own member of a set, the other has one member for all
        // states of a step, to first order [docs/algorithms/likelihood.md, The value]. Both contain V^pi on
        // the same event.
        certificate.value = {std::max(by_states.lower, losses.value.lower),
                             std::min(by_states.upper, losses.value.upper)};
        certificate.methods.emplace_back("advantage", std::min(plain, losses.advantage));
        certificate.methods.emplace_back("gap", std::min(plain, losses.gap));
    } else {
        certificate.methods.emplace_back(
            "gap", std::min(plain, detail::interval_loss(learned, reward, policy, bounds, threads)));
    }
    settle(certificate, horizon);
    return certificate;
}

RewardCertificate by_knowledge(const Knowledge& knowledge, const DeviationTable& deviations,
                               const Reward& reward, const Policy& policy, Threads threads, int sharpened) {
    const LearnedModel& learned = learned_of(knowledge);
    const RewardFreeCertificate& claim = knowledge.certificate;
    expects(!claim.candidates.empty() && claim.bound >= 0 && claim.any_plan >= claim.bound,
            "the knowledge has no reward-free certificate; compute it with certify_reward_free");
    expects(
        claim.failure_probability <= learned.delta(),
        "the reward-free certificate fails with probability {}, the confidence sets with {}; must hold on "
        "the same event",
        claim.failure_probability, learned.delta());
    RewardCertificate certificate = by_model(learned, deviations, reward, policy, threads, sharpened);
    const TransitionModel& model = learned.model();
    // What the policy lacks in the model is measured: nothing that a planner says of itself is believed
    // [docs/algorithms/hoeffding.md, Theorem 5].
    const double shortfall =
        backward_induction(model, reward, threads).value - evaluate(model, policy, reward, threads).value;
    double free = claim.any_plan + std::max(0.0, shortfall);
    // Of greedy plans, and of others by as much as they are not [docs/algorithms/two-chains.md, Which plans].
    if (claim.bound < free)
        free = std::min(free, claim.bound + detail::largest_model_gaps(learned, reward, policy, threads));
    certificate.methods.emplace_back("reward-free", free + detail::rounding_slack(learned.shape().horizon));
    settle(certificate, static_cast<double>(learned.shape().horizon));
    return certificate;
}

}  // namespace

RewardCertificate certify_reward(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                                 Threads threads) {
    return by_model(learned, DeviationTable::of(learned), reward, policy, threads, 1);
}

RewardCertificate certify_reward(const LearnedModel& learned, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, Threads threads) {
    return by_model(learned, deviations, reward, policy, threads, 1);
}

RewardCertificate certify_reward(const Knowledge& knowledge, const Reward& reward, const Policy& policy,
                                 Threads threads) {
    return by_knowledge(knowledge, DeviationTable::of(learned_of(knowledge)), reward, policy, threads, 1);
}

RewardCertificate certify_reward(const Knowledge& knowledge, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, Threads threads) {
    return by_knowledge(knowledge, deviations, reward, policy, threads, 1);
}

RewardCertificate detail::certify_reward_sharply(const Knowledge& knowledge, const DeviationTable& deviations,
                                                 const Reward& reward, const Policy& policy, Threads threads,
                                                 int sharpened) {
    return knowledge.certificate.candidates.empty()
               ? by_model(learned_of(knowledge), deviations, reward, policy, threads, sharpened)
               : by_knowledge(knowledge, deviations, reward, policy, threads, sharpened);
}

std::vector<RewardCertificate> certify_rewards(const Knowledge& knowledge,
                                               std::span<const RewardQuestion> questions, Threads threads) {
    return certify_rewards(knowledge, DeviationTable::of(learned_of(knowledge)), questions, threads);
}

std::vector<RewardCertificate> certify_rewards(const Knowledge& knowledge, const DeviationTable& deviations,
                                               std::span<const RewardQuestion> questions, Threads threads) {
    std::vector<RewardCertificate> certificates(questions.size());
    const Threads each = questions.size() == 1 ? threads : Threads{1};
    // A certificate is computed from its own question alone.
    detail::in_chunks(static_cast<Index>(questions.size()), 1, threads, [&](Index first, Index last) {
        for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
            certificates[i] =
                certify_reward(knowledge, deviations, questions[i].reward, questions[i].policy, each);
    });
    return certificates;
}

}  // namespace alidade
