#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"

namespace alidade::detail {

/// What reward-free certificates are computed from, and the recursions that several of them need, each
/// computed when it is first asked for. Reads what it is given, which must outlive it.
struct RewardFreeEntry;

class RewardFreeWork {
public:
    /// Throws InvalidArgument unless the deviations fit the model.
    RewardFreeWork(const LearnedModel& learned, const DeviationTable& deviations,
                   const RewardFreeOptions& options);
    ~RewardFreeWork();

    const LearnedModel& learned() const noexcept { return learned_; }
    const DeviationTable& deviations() const noexcept { return deviations_; }
    const RewardFreeOptions& options() const noexcept { return options_; }
    ValueRanges ranges() const noexcept { return {learned_.shape().horizon, options_.ranges}; }

    /// Tells what will be asked for, so that recursions over the same rows are run together.
    void expect(std::span<const RewardFreeEntry* const> entries);

    const ErrorRecursion& model();
    const ErrorRecursion& coupling();
    const ErrorRecursion& trajectory();
    const ErrorRecursion& hybrid();
    const ErrorRecursion& span();
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

    const LearnedModel& learned_;
    const DeviationTable& deviations_;
    const RewardFreeOptions& options_;
    std::unique_ptr<Recursions> recursions_;
};

/// A reward-free certificate that can be asked for by name.
struct RewardFreeEntry {
    std::string name;     ///< as typed: "trajectory-kl"
    std::string summary;  ///< one sentence
    /// Why it cannot be had of what was learned; empty if it can.
    std::function<std::string(const LearnedModel&)> refusal;
    /// A bound of the error of any value, at the start.
    std::function<double(RewardFreeWork&)> error;
};

/// All of them, the simplest argument first.
const std::vector<RewardFreeEntry>& reward_free_certificates();

/// Throws InvalidArgument with the names there are.
const RewardFreeEntry& find_reward_free(std::string_view name);

}  // namespace alidade::detail
