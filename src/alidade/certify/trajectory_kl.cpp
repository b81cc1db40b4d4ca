#include "trajectory_kl.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "coupling.hpp"
#include "error_recursion.hpp"
#include "transfer.hpp"

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
    return divergence_recursion(learned, divergences, RewardCaps({learned.shape().horizon, true}), threads);
}

ErrorRecursion divergence_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                    const RewardCaps& caps, Threads threads) {
    divergences.require_fit(learned, Divergence::kl);
    if (by_operator(learned)) return run_by_operator(learned, threads, divergence_step(divergences, caps));
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        // Nothing follows: nor at any successor.
        if (caps.at(h, pair) == 0) return 0.0;
        return divergences.at(h, pair) + expect_reachable(learned.model(), h, pair, next);
    };
    return run_backwards(
        learned.shape(), threads, [&] { return backup; }, uncapped);
}

DescribeStep divergence_step(const DivergenceTable& divergences, const RewardCaps& caps) {
    return [&, masked = std::make_shared<std::vector<double>>()](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::divergence;
        step.divergences = caps.mask(h, divergences.row(h), *masked);
    };
}

void errors_of_divergences(const LearnedModel& learned, const RewardCaps& caps, ErrorRecursion& recursion) {
    // Divergences are of mixtures: the rest of the way to the truth is added [misspecification, Lemma 7].
    const std::vector<double> rest = transfer_errors(learned, caps);
    for (State s = 0; s < learned.shape().states; ++s)
        for (Step h = 0; h + 1 < learned.shape().horizon; ++h) {
            // At each state, before the mean over the start: the function is concave, so this is never worse.
            const double range = caps.of_state(h, s);
            recursion.values(h, s) = range * variation_of_divergence(recursion.values(h, s));
            if (!rest.empty()) recursion.values(h, s) = std::min(range, recursion.values(h, s) + rest[at(h)]);
        }
}

ErrorRecursion trajectory_kl_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                       const RewardFreeOptions& options) {
    return trajectory_kl_recursion(learned, divergences,
                                   RewardCaps({learned.shape().horizon, options.ranges}), options.threads);
}

ErrorRecursion trajectory_kl_recursion(const LearnedModel& learned, const DivergenceTable& divergences,
                                       const RewardCaps& caps, Threads threads) {
    ErrorRecursion result = divergence_recursion(learned, divergences, caps, threads);
    errors_of_divergences(learned, caps, result);
    return result;
}

DescribeStep hybrid_step(const DeviationTable& deviations, const ErrorRecursion& trajectory,
                         const RewardCaps& caps) {
    return [coupling = coupling_step(deviations, caps), &trajectory](Step h, ErrorStep& step) {
        coupling(h, step);
        // Both bound the error, so the lesser does; and less at the next step makes less of this one.
        step.cap = trajectory.values.data() + h;
        step.cap_stride = trajectory.values.rows();
    };
}

ErrorRecursion hybrid_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                const ErrorRecursion& trajectory, const RewardFreeOptions& options) {
    return hybrid_recursion(learned, deviations, trajectory,
                            RewardCaps({learned.shape().horizon, options.ranges}), options.threads);
}

ErrorRecursion hybrid_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                const ErrorRecursion& trajectory, const RewardCaps& caps, Threads threads) {
    deviations.require_fit(learned);
    require_recursion_of(learned.shape(), trajectory);
    if (by_operator(learned))
        return run_by_operator(learned, threads, hybrid_step(deviations, trajectory, caps));
    const auto make = [&] {
        return [&, backup = CouplingBackup(learned)](Step h, Index pair,
                                                     const std::vector<double>& next) mutable {
            return backup(h, pair, deviations.at(h, pair), caps.at(h, pair), next);
        };
    };
    // Both bound the error, so the lesser does; and less at the next step makes less of this one.
    const auto cap = [&](Step h, State s) { return trajectory.values(h, s); };
    return run_backwards(learned.shape(), threads, make, cap);
}

}  // namespace alidade::detail
