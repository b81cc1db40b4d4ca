#include "catalogue.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "alidade/model/transition_operator.hpp"
#include "divergence.hpp"
#include "error_recursion.hpp"
#include "mixture_recursions.hpp"
#include "optimal_span.hpp"
#include "optimal_spans.hpp"
#include "span.hpp"
#include "total_variance.hpp"
#include "trajectory_kl.hpp"
#include "transfer.hpp"

namespace alidade::detail {

namespace {

/// More than these, and certificates that ask about one pair after another are left out, for time.
constexpr Index most_pairs_with_chains = 10'000;

/// Of certificates of greedy plans.
std::string refusal_of_chains(const RewardFreeWork& work) {
    if (work.of_class())
        return "its proof is of all rewards in [0, 1] of the present state; it is not shown for classes";
    const Index pairs = work.learned().shape().pairs();
    if (pairs <= most_pairs_with_chains) return {};
    return fmt::format("{} pairs of a state and an action; it takes long beyond {}", pairs,
                       most_pairs_with_chains);
}

}  // namespace

/// What several certificates need, as far as it was asked for.
struct RewardFreeWork::Recursions {
    std::optional<ErrorRecursion> model, coupling, span, trajectory, hybrid;
    std::optional<ErrorRecursion> variance;  // that of `ltv`, at every step
    std::optional<ErrorRecursion> cut, optimal_span;
    std::optional<OptimalSpans> spans;
    std::optional<TwoChains> two_chain;
    std::unique_ptr<TransitionOperator> passes;  // none where there are no base models to pass over
    std::vector<std::string> expected;
};

RewardFreeWork::RewardFreeWork(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardFreeOptions& options, const RewardClass* rewards)
    : learned_(learned),
      deviations_(deviations),
      options_(options),
      rewards_(rewards),
      caps_(rewards == nullptr ? RewardCaps({learned.shape().horizon, options.ranges})
                               : RewardCaps(learned, *rewards)),
      recursions_(std::make_unique<Recursions>()) {
    deviations.require_fit(learned);
    if (rewards == nullptr && !options.ranges) exact_.emplace(ValueRanges{learned.shape().horizon, true});
}

RewardFreeWork::~RewardFreeWork() = default;

void RewardFreeWork::expect(std::span<const RewardFreeEntry* const> entries) {
    for (const RewardFreeEntry* entry : entries) recursions_->expected.push_back(entry->name);
    if (by_operator(learned_))
        recursions_->passes = local_operator(learned_.mixture()->model().features(), options_.threads);
}

// The recursions that need no other, in one pass over the features a step: those of a large model come from
// memory, and are waited for.
void RewardFreeWork::run_together() {
    Recursions& kept = *recursions_;
    if (kept.passes == nullptr) return;
    const auto awaited = [&](std::string_view name) { return std::ranges::count(kept.expected, name) > 0; };
    std::optional<DivergenceTable> divergences;
    std::vector<DescribeStep> steps;
    std::vector<std::optional<ErrorRecursion>*> places;
    const auto add = [&](std::optional<ErrorRecursion>& place, DescribeStep step) {
        steps.push_back(std::move(step));
        places.push_back(&place);
    };
    if (awaited("model") || awaited("ltv")) add(kept.model, model_step(deviations_, caps_));
    if (awaited("coupling")) add(kept.coupling, coupling_step(deviations_, caps_));
    if (awaited("span"))
        add(kept.span,
            span_step(deviations_, exact_caps(), value_spans(learned_, exact_caps(), options_.threads)));
    if (awaited("trajectory-kl") || awaited("hybrid")) {
        divergences.emplace(learned_, Divergence::kl, options_.threads);
        add(kept.trajectory, divergence_step(*divergences, caps_));
    }
    std::vector<ErrorRecursion> results = detail::run_together(*learned_.mixture(), *kept.passes, steps);
    for (std::size_t k = 0; k < places.size(); ++k) *places[k] = std::move(results[k]);
    if (kept.trajectory) errors_of_divergences(learned_, caps_, *kept.trajectory);
    kept.expected.clear();
}

const ErrorRecursion& RewardFreeWork::model() {
    auto& kept = recursions_->model;
    if (!kept && !recursions_->expected.empty()) run_together();
    return kept ? *kept : kept.emplace(model_recursion(learned_, deviations_, caps_, options_.threads));
}

const ErrorRecursion& RewardFreeWork::coupling() {
    auto& kept = recursions_->coupling;
    if (!kept && !recursions_->expected.empty()) run_together();
    return kept ? *kept : kept.emplace(coupling_recursion(learned_, deviations_, caps_, options_.threads));
}

const ErrorRecursion& RewardFreeWork::span() {
    auto& kept = recursions_->span;
    if (!kept && !recursions_->expected.empty()) run_together();
    return kept ? *kept : kept.emplace(span_recursion(learned_, deviations_, exact_caps(), options_.threads));
}

const ErrorRecursion& RewardFreeWork::trajectory() {
    auto& kept = recursions_->trajectory;
    if (!kept && !recursions_->expected.empty()) run_together();
    if (kept) return *kept;
    return kept.emplace(trajectory_kl_recursion(
        learned_, DivergenceTable(learned_, Divergence::kl, options_.threads), caps_, options_.threads));
}

const ErrorRecursion& RewardFreeWork::hybrid() {
    auto& kept = recursions_->hybrid;
    if (kept) return *kept;
    const ErrorRecursion& cut = trajectory();
    if (recursions_->passes == nullptr)
        return kept.emplace(hybrid_recursion(learned_, deviations_, cut, caps_, options_.threads));
    const DescribeStep step = hybrid_step(deviations_, cut, caps_);
    return kept.emplace(
        std::move(detail::run_together(*learned_.mixture(), *recursions_->passes, {&step, 1}).front()));
}

double RewardFreeWork::total_variance() {
    Recursions& kept = *recursions_;
    // The law of total variance is of one kernel: that of the mixture which the truth is near
    // [misspecification, Lemma 7].
    if (const std::vector<double> rest = transfer_errors(learned_, caps_); !rest.empty()) {
        const LearnedMixture exact = learned_.mixture()->exact();
        const DeviationTable own = deviations_.without(learned_.mixture()->misspecification());
        RewardFreeWork mixtures(exact, own, options_, rewards_);
        mixtures.hybrid();
        const double error = mixtures.total_variance();
        kept.variance = std::move(mixtures.recursions_->variance);
        if (kept.variance)
            for (Step h = 0; h < learned_.shape().horizon; ++h)
                kept.variance->values.row(h).array() += rest[at(h)];
        return error + rest.front();
    }
    const ErrorRecursion& cap = least();
    const bool chains = refusal_of_chains(*this).empty();
    if (!chains) {
        // Nobody asks for the others any more: in a large model each takes as much as two policies.
        kept.span.reset();
        if (kept.hybrid) kept.trajectory.reset();
    }
    const DivergenceTable divergences(learned_, Divergence::chi_square, options_.threads);
    const TotalVarianceBound found =
        kept.passes == nullptr
            ? total_variance_bound(learned_, deviations_, divergences, cap, exact_caps(), options_.threads)
            : total_variance_bound(*learned_.mixture(), *kept.passes, deviations_, divergences, cap,
                                   exact_caps());
    if (chains)
        kept.variance =
            total_variance_errors(learned_, deviations_, divergences, cap, found.weights, options_.threads);
    return found.error;
}

// Each is a bound of all policies' errors, at every step and state [docs/algorithms/two-chains.md, What F
// is].
const ErrorRecursion& RewardFreeWork::cut() {
    Recursions& kept = *recursions_;
    if (kept.cut) return *kept.cut;
    const Shape& shape = learned_.shape();
    ErrorRecursion least{Matrix(shape.horizon, shape.states),
                         std::vector<std::int32_t>(at(shape.learned_steps() * shape.states), 0)};
    for (Step h = 0; h < shape.horizon; ++h)
        least.values.row(h).setConstant(static_cast<double>(shape.steps_after(h)));
    for (const auto* one : {&kept.model, &kept.coupling, &kept.span, &kept.hybrid, &kept.variance})
        if (*one) least.values = least.values.cwiseMin((*one)->values);
    return kept.cut.emplace(std::move(least));
}

const ErrorRecursion& RewardFreeWork::optimal_span() {
    Recursions& kept = *recursions_;
    if (kept.optimal_span) return *kept.optimal_span;
    if (!kept.spans) kept.spans.emplace(learned_, options_.threads);
    return kept.optimal_span.emplace(
        optimal_span_recursion(learned_, deviations_, *kept.spans, cut(), options_.threads));
}

const TwoChains& RewardFreeWork::two_chain() {
    Recursions& kept = *recursions_;
    if (kept.two_chain) return *kept.two_chain;
    const ErrorRecursion& errors = optimal_span();
    return kept.two_chain.emplace(
        two_chain_recursion(learned_, deviations_, *kept.spans, errors, options_.threads));
}

std::string RewardFreeWork::spans_in_words() {
    optimal_span();
    return recursions_->spans->pairwise() ? "a span for every two states"
                                          : "one span a step: too many pairs of states and actions";
}

std::string RewardFreeWork::chains_in_words() {
    return two_chain().all_pairs ? "all pairs of states"
                                 : "the diagonal alone: too many pairs of states and actions";
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

std::string always_applies(const RewardFreeWork&) {
    return {};
}

std::string without_histories(const RewardFreeWork& work) {
    return work.of_histories() ? "where rewards may depend on the past, values may differ from state to "
                                 "state by all that is left to earn"
                               : "";
}

std::string without_divergences(const RewardFreeWork& work) {
    return work.learned().divergence_refusal();
}

/// The entry of a recursion: its error is the value at the start.
template <class Recursion>
RewardFreeEntry by_recursion(std::string name, std::string summary,
                             std::function<std::string(const RewardFreeWork&)> refusal, Recursion recursion) {
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
                     without_histories,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.span(); }),
        by_recursion("trajectory-kl", "the KL divergence of trajectories, and Pinsker's inequality",
                     without_divergences,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.trajectory(); }),
        by_recursion("hybrid", "coupling, with every error cut at that of trajectory-kl", without_divergences,
                     [](RewardFreeWork& work) -> const ErrorRecursion& { return work.hybrid(); }),
        {"ltv", "the law of total variance, cut at the least of the others under the model",
         without_divergences, [](RewardFreeWork& work) { return work.total_variance(); }},
        {"optimal-span", "by how much optimal values in the model vary, state by state; of greedy plans",
         refusal_of_chains,
         [](RewardFreeWork& work) { return start_value(work.learned(), work.optimal_span()); }, true,
         [](RewardFreeWork& work) { return work.spans_in_words(); }},
        {"two-chain", "one truth and one value for the best policy and the plan; of greedy plans",
         refusal_of_chains, [](RewardFreeWork& work) { return work.two_chain().start / 2; }, true,
         [](RewardFreeWork& work) { return work.chains_in_words(); }},
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
