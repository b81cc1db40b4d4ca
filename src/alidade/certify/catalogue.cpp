#include "catalogue.hpp"

#include <algorithm>
#include <optional>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "divergence.hpp"
#include "error_recursion.hpp"
#include "span.hpp"
#include "total_variance.hpp"
#include "trajectory_kl.hpp"

namespace alidade::detail {

struct RewardFreeWork::Recursions {
    std::optional<ErrorRecursion> model, coupling, trajectory, hybrid;
};

RewardFreeWork::RewardFreeWork(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardFreeOptions& options)
    : learned_(learned),
      deviations_(deviations),
      options_(options),
      recursions_(std::make_unique<Recursions>()) {
    deviations.require_fit(learned);
}

RewardFreeWork::~RewardFreeWork() = default;

const ErrorRecursion& RewardFreeWork::model() {
    auto& kept = recursions_->model;
    return kept ? *kept : kept.emplace(model_recursion(learned_, deviations_, options_));
}

const ErrorRecursion& RewardFreeWork::coupling() {
    auto& kept = recursions_->coupling;
    return kept ? *kept : kept.emplace(coupling_recursion(learned_, deviations_, options_));
}

const ErrorRecursion& RewardFreeWork::trajectory() {
    auto& kept = recursions_->trajectory;
    if (kept) return *kept;
    return kept.emplace(trajectory_kl_recursion(
        learned_, DivergenceTable(learned_, Divergence::kl, options_.threads), options_));
}

const ErrorRecursion& RewardFreeWork::hybrid() {
    auto& kept = recursions_->hybrid;
    return kept ? *kept : kept.emplace(hybrid_recursion(learned_, deviations_, trajectory(), options_));
}

double RewardFreeWork::bound(double error) const {
    // Twice, since an optimal policy's value and that of the policy handed over may each be off by `error`
    // [docs/algorithms/hoeffding.md, Theorem 5]. Where nothing can differ nothing was rounded.
    return 2 * error + (deviations_.zero() ? 0 : rounding_slack(learned_.shape().horizon));
}

bool RewardFreeWork::coupled() {
    return recursions_->coupling &&
           bound(start_value(learned_, coupling())) <= bound(start_value(learned_, model()));
}

const ErrorRecursion& RewardFreeWork::least() {
    if (recursions_->hybrid) return *recursions_->hybrid;
    return coupled() ? coupling() : model();
}

namespace {

std::string always_applies(const LearnedModel&) {
    return {};
}

std::string without_divergences(const LearnedModel& learned) {
    return learned.divergence_refusal();
}

/// The entry of a recursion: its error is the value at the start.
template <class Recursion>
RewardFreeEntry by_recursion(std::string name, std::string summary,
                             std::function<std::string(const LearnedModel&)> refusal, Recursion recursion) {
    return {std::move(name), std::move(summary), std::move(refusal),
            [recursion](RewardFreeWork& work) { return start_value(work.learned(), recursion(work)); }};
}

}  // namespace

const std::vector<RewardFreeEntry>& reward_free_certificates() {
    static const std::vector<RewardFreeEntry> entries = {
        by_recursion("model", "errors of values, averaged under the learned model", always_applies,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.model(); }),
        by_recursion("coupling", "the same, less the mass that a coupling with the truth may lose",
                     always_applies,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.coupling(); }),
        by_recursion("span", "by how much values in the model vary, averaged under the worst truth",
                     always_applies,
                     [](RewardFreeWork& work) {
                         return span_recursion(work.learned(), work.deviations(), work.options().threads);
                     }),
        by_recursion("trajectory-kl", "the KL divergence of trajectories, and Pinsker's inequality",
                     without_divergences,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.trajectory(); }),
        by_recursion("hybrid", "coupling, with every error cut at that of trajectory-kl", without_divergences,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.hybrid(); }),
        {"ltv", "the law of total variance, cut at the least of the others under the model",
         without_divergences,
         [](RewardFreeWork& work) {
             return total_variance_bound(
                        work.learned(), work.deviations(),
                        DivergenceTable(work.learned(), Divergence::chi_square, work.options().threads),
                        work.least(), work.options().threads)
                 .error;
         }},
    };
    return entries;
}

const RewardFreeEntry& find_reward_free(std::string_view name) {
    std::string names;
    for (const RewardFreeEntry& entry : reward_free_certificates()) {
        if (entry.name == name) return entry;
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    throw InvalidArgument(fmt::format("unknown certificate '{}'; must be one of {}", name, names));
}

}  // namespace alidade::detail
