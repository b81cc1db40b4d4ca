#include "trajectory_kl.hpp"

#include <algorithm>
#include <cmath>

#include "coupling.hpp"
#include "error_recursion.hpp"

namespace alidade::detail {

namespace {

/// E[value(s')] under the learned model, where values may be infinite: what cannot happen adds nothing.
double expect_reachable(const TransitionModel& model, Step h, Index pair, const std::vector<double>& value) {
    const auto targets = model.successors().targets(pair);
    const auto law = model.probabilities(h, pair);
    double sum = 0;
    for (std::size_t j = 0; j < law.size(); ++j)
        if (law[j] > negligible_probability) sum += law[j] * value[static_cast<std::size_t>(targets[j])];
    return sum;
}

}  // namespace

double variation_of_divergence(double divergence) {
    // Pinsker's inequality, and that of Bretagnolle and Huber, which is below 1 for every finite divergence
    // [docs/algorithms/likelihood.md, Lemma 4].
    return std::min(std::sqrt(divergence / 2), std::sqrt(-std::expm1(-divergence)));
}

ErrorRecursion divergence_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                    Threads threads) {
    divergences.require_fit(learned, Divergence::kl);
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        return divergences.at(h, pair) + expect_reachable(learned.model(), h, pair, next);
    };
    return run_backwards(
        learned.shape(), threads, [&] { return backup; }, uncapped);
}

ErrorRecursion trajectory_kl_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                       const RewardFreeOptions& options) {
    const ValueRanges ranges{learned.shape().horizon, options.ranges};
    ErrorRecursion result = divergence_recursion(learned, divergences, options.threads);
    for (Step h = 0; h + 1 < learned.shape().horizon; ++h)
        for (State s = 0; s < learned.shape().states; ++s)
            // At each state, before the mean over the start: the function is concave, so this is never worse.
            result.values(h, s) = ranges.at(h) * variation_of_divergence(result.values(h, s));
    return result;
}

ErrorRecursion hybrid_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                const ErrorRecursion& trajectory, const RewardFreeOptions& options) {
    deviations.require_fit(learned);
    require_recursion_of(learned.shape(), trajectory);
    const ValueRanges ranges{learned.shape().horizon, options.ranges};
    const auto make = [&] {
        return [&, backup = CouplingBackup(learned)](Step h, Index pair,
                                                     const std::vector<double>& next) mutable {
            return backup(h, pair, deviations.at(h, pair), ranges.at(h), next);
        };
    };
    // Both bound the error, so the lesser does; and less at the next step makes less of this one.
    const auto cap = [&](Step h, State s) { return trajectory.values(h, s); };
    return run_backwards(learned.shape(), options.threads, make, cap);
}

}  // namespace alidade::detail
