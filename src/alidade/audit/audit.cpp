#include "alidade/audit/audit.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "../model/parallel.hpp"
#include "adversary.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "contained_truth.hpp"

namespace alidade {

namespace {

constexpr double tolerance = 1e-9;

/// 0/1, uniform, and sparse rewards in turn; half of the sparse ones ask to be in one state at the end.
Reward audit_reward(const Shape& shape, std::uint64_t seed, Index number) {
    Stream random(seed, Purpose::audit, static_cast<std::uint64_t>(number));
    if (number % 6 == 5) return reach_reward(shape, sample_index(random, shape.states));
    constexpr std::array kinds{RandomRewardKind::binary, RandomRewardKind::dense, RandomRewardKind::sparse};
    return random_reward(shape, kinds[static_cast<std::size_t>(number % 3)], random);
}

struct Finding {
    double loss = 0;
    double bound = 0;
    bool violation = false;
};

Finding examine(const Knowledge& knowledge, const DeviationTable& deviations, const Reward& reward,
                const detail::TrueLoss& truth) {
    const RewardCertificate certificate = certify_reward(knowledge, deviations, reward, truth.policy);
    const bool violation = truth.loss() > certificate.loss_bound + tolerance ||
                           truth.loss() > knowledge.certificate.bound + tolerance ||
                           truth.value < certificate.value.lower - tolerance ||
                           truth.value > certificate.value.upper + tolerance ||
                           truth.optimal > certificate.optimal_upper + tolerance;
    return {truth.loss(), certificate.loss_bound, violation};
}

std::vector<Finding> examine_random(const Knowledge& knowledge, const DeviationTable& deviations,
                                    const TransitionModel& truth, const AuditOptions& options) {
    std::vector<Finding> findings(static_cast<std::size_t>(options.rewards));
    detail::in_chunks(options.rewards, 1, options.threads, [&](Index first, Index last) {
        for (Index i = first; i < last; ++i) {
            const Reward reward = audit_reward(truth.shape(), options.seed, i);
            findings[static_cast<std::size_t>(i)] = examine(
                knowledge, deviations, reward, detail::measure_loss(*knowledge.learned, truth, reward));
        }
    });
    return findings;
}

void search_worst(const Knowledge& knowledge, const DeviationTable& deviations, const TransitionModel& truth,
                  const std::vector<Finding>& findings, const AuditOptions& options, AuditResult& result) {
    std::vector<Index> order(findings.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) {
        return findings[static_cast<std::size_t>(a)].loss > findings[static_cast<std::size_t>(b)].loss;
    });
    const Index starts = std::min(options.climb_starts, options.rewards);
    for (Index k = 0; k < starts; ++k) {
        const Index steps = options.climb_steps / starts + (k < options.climb_steps % starts ? 1 : 0);
        if (steps == 0) continue;
        Stream random(options.seed, Purpose::audit, static_cast<std::uint64_t>(options.rewards + k), 1);
        const Reward start = audit_reward(truth.shape(), options.seed, order[static_cast<std::size_t>(k)]);
        detail::climb(*knowledge.learned, truth, start, steps, random,
                      [&](const Reward& reward, const detail::TrueLoss& loss, bool accepted) {
                          ++result.rewards;
                          result.max_gap = std::max(result.max_gap, loss.loss());
                          const bool violation = accepted
                                                     ? examine(knowledge, deviations, reward, loss).violation
                                                     : loss.loss() > knowledge.certificate.bound + tolerance;
                          result.violations += violation ? 1 : 0;
                      });
    }
}

/// All but where the truth lies, which depends on what is known of it.
AuditResult compare(const Knowledge& knowledge, const TransitionModel& truth, const AuditOptions& options) {
    AuditResult result;
    result.reward_free = knowledge.certificate.bound;
    const DeviationTable deviations = DeviationTable::of(*knowledge.learned);
    const std::vector<Finding> findings = examine_random(knowledge, deviations, truth, options);
    for (const Finding& finding : findings) {
        result.max_gap = std::max(result.max_gap, finding.loss);
        result.mean_gap += finding.loss / static_cast<double>(findings.size());
        result.max_bound = std::max(result.max_bound, finding.bound);
        result.mean_bound += finding.bound / static_cast<double>(findings.size());
        result.violations += finding.violation ? 1 : 0;
    }
    result.rewards = options.rewards;
    search_worst(knowledge, deviations, truth, findings, options, result);
    return result;
}

void check_arguments(const Knowledge& knowledge, const TransitionModel& truth, const AuditOptions& options) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    expects(truth.shape() == knowledge.learned->shape(),
            "the truth has another shape than the learned model");
    expects(options.rewards >= 1, "rewards is {}; must be at least 1", options.rewards);
    expects(options.climb_steps >= 0 && options.climb_starts >= 1,
            "climb_steps is {} and climb_starts {}; must be at least 0 and 1", options.climb_steps,
            options.climb_starts);
}

/// With or without weights, as `Truth` has them.
template <class Truth>
AuditResult audit_with(const Knowledge& knowledge, const Truth& truth, const AuditOptions& options) {
    check_arguments(knowledge, truth, options);
    const bool contained = knowledge.learned->contains(truth);
    const double depth = knowledge.learned->depth(truth);
    AuditResult result = compare(knowledge, truth, options);
    result.truth_in_confidence_set = contained;
    result.depth = depth;
    return result;
}

}  // namespace

bool detail::contains_truth(const Knowledge& knowledge, const Problem& problem) {
    expects(knowledge.learned != nullptr, "the knowledge has no learned model");
    if (problem.is_linear()) return knowledge.learned->contains(problem.true_system());
    if (!problem.foreign()) return knowledge.learned->contains(problem.true_model());
    const LearnedMixture* const learned = knowledge.learned->mixture();
    // Rows in balls know nothing of weights.
    if (learned == nullptr) return knowledge.learned->contains(problem.true_system());
    // On the event that the weights are in the set, bounds hold for laws as far off as was allowed for.
    return learned->contains(problem.mixture_part()) &&
           problem.true_misspecification() <= learned->misspecification() + tolerance;
}

double true_loss(const LearnedModel& learned, const TransitionModel& truth, const Reward& reward) {
    return detail::measure_loss(learned, truth, reward).loss();
}

AuditResult audit(const Knowledge& knowledge, const MixtureModel& truth, const AuditOptions& options) {
    return audit_with(knowledge, truth, options);
}

AuditResult audit(const Knowledge& knowledge, const TransitionModel& truth, const AuditOptions& options) {
    return audit_with(knowledge, truth, options);
}

AuditResult audit(const Knowledge& knowledge, const Problem& problem, const AuditOptions& options) {
    if (problem.is_linear()) return audit(knowledge, problem.true_system(), options);
    if (!problem.foreign()) return audit(knowledge, problem.true_model(), options);
    const TransitionModel truth = problem.true_system();
    check_arguments(knowledge, truth, options);
    const LearnedMixture* const learned = knowledge.learned->mixture();
    // Rows in balls know nothing of weights.
    if (learned == nullptr) return audit(knowledge, truth, options);
    AuditResult result = compare(knowledge, truth, options);
    result.truth_in_confidence_set = detail::contains_truth(knowledge, problem);
    result.depth = learned->depth(problem.mixture_part());
    return result;
}

}  // namespace alidade
