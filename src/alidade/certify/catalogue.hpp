#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_class.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "reward_caps.hpp"
#include "two_chain.hpp"

namespace alidade::detail {

/// What reward-free certificates are computed from, and the recursions that several of them need, each
/// computed when it is first asked for. Reads what it is given, which must outlive it.
struct RewardFreeEntry;

class RewardFreeWork {
public:
    /// Of a class of rewards, or, if there is none, of all in [0, 1]. Throws InvalidArgument unless the
    /// deviations and the class fit the model.
    RewardFreeWork(const LearnedModel& learned, const DeviationTable& deviations,
                   const RewardFreeOptions& options, const RewardClass* rewards = nullptr);
    ~RewardFreeWork();

    const LearnedModel& learned() const noexcept { return learned_; }
    const DeviationTable& deviations() const noexcept { return deviations_; }
    const RewardFreeOptions& options() const noexcept { return options_; }
    const RewardCaps& caps() const noexcept { return caps_; }
    /// Whether rewards are of a class, not all in [0, 1].
    bool of_class() const noexcept { return rewards_ != nullptr; }
    /// Whether rewards may depend on the whole past.
    bool of_histories() const noexcept { return rewards_ != nullptr && rewards_->of_histories(); }

    /// Tells what will be asked for, so that recursions over the same rows are run together.
    void expect(std::span<const RewardFreeEntry* const> entries);

    const ErrorRecursion& model();
    const ErrorRecursion& coupling();
    const ErrorRecursion& trajectory();
    const ErrorRecursion& hybrid();
    const ErrorRecursion& span();
    /// F of [docs/algorithms/two-chains.md, Theorem 3], cut at the least of what was asked for before it.
    const ErrorRecursion& optimal_span();
    /// What it was cut at.
    const ErrorRecursion& cut();
    const TwoChains& two_chain();
    /// In which form they were computed.
    std::string spans_in_words();
    std::string chains_in_words();
    /// A bound of the error at the start by the law of total variance.
    double total_variance();
    /// Whether the coupling was asked for, and is no worse than `model`.
    bool coupled();
    /// The least that was asked for of those whose errors are averaged under the model.
    const ErrorRecursion& least();
    /// What an error of values at the start makes of the loss: twice it, and a rounding slack.
    double bound(double error) const;

private:
    struct Recursions;
    void run_together();
    /// What values range over where the paper's H at every step has no form: spans and total variances.
    const RewardCaps& exact_caps() const noexcept { return exact_ ? *exact_ : caps_; }

    const LearnedModel& learned_;
    const DeviationTable& deviations_;
    const RewardFreeOptions& options_;
    const RewardClass* rewards_;
    RewardCaps caps_;
    std::optional<RewardCaps> exact_;  // if caps are the paper's
    std::unique_ptr<Recursions> recursions_;
};

/// A reward-free certificate that can be asked for by name.
struct RewardFreeEntry {
    std::string name;     ///< as typed: "trajectory-kl"
    std::string summary;  ///< one sentence
    /// Why it cannot be had of what was learned, for these rewards; empty if it can.
    std::function<std::string(const RewardFreeWork&)> refusal;
    /// Half of a bound of the loss, at the start: of the error of any value; or, `greedy`, of plans that are
    /// greedy in the model in every state, alone.
    std::function<double(RewardFreeWork&)> error;
    bool greedy = false;
    /// How it was computed, in words, where there are several ways; may be left out.
    std::function<std::string(RewardFreeWork&)> form = {};
};

/// The certificate of all candidates that were asked for, or that apply; no loss is above `most`.
RewardFreeCertificate certify_by(RewardFreeWork& work, double most);

/// All of them, the simplest argument first.
const std::vector<RewardFreeEntry>& reward_free_certificates();

/// Throws InvalidArgument with the names there are.
const RewardFreeEntry& find_reward_free(std::string_view name);

}  // namespace alidade::detail
