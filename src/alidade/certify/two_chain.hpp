#pragma once

#include <cstdint>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "optimal_spans.hpp"

namespace alidade::detail {

/// Lambda of [docs/algorithms/two-chains.md, Theorem 5], with what its maxima were attained by.
struct TwoChains {
    /// What a step of it is at a pair of states.
    struct Choice {
        bool cut = false;  ///< the sum of both errors, F + F, is less
        Action one = 0, other = 0;
        double added = 0;  ///< what is not an expectation under the model of later steps
    };

    bool all_pairs = false;  ///< of states; else x = y alone, and F + F elsewhere
    Index states = 0;
    std::vector<std::vector<double>> values;   ///< H of states x states, or of states
    std::vector<std::vector<Choice>> choices;  ///< H-1, as many
    double start = 0;                          ///< the mean over the start of Lambda_0(s,s)

    Index place(State x, State y) const noexcept { return all_pairs ? x * states + y : x; }
};

/// `errors` is F, that of Theorem 3. All pairs of states where pairs of pairs are not too many.
TwoChains two_chain_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                              const OptimalSpans& spans, const ErrorRecursion& errors, Threads threads = {});

/// Where it comes from, step, state and action: together `start`.
std::vector<Contribution> two_chain_contributions(const LearnedModel& learned, const TwoChains& chains,
                                                  const ErrorRecursion& errors, const ErrorRecursion& cap);
/// The same of F, twice.
std::vector<Contribution> optimal_span_contributions(const LearnedModel& learned,
                                                     const ErrorRecursion& errors, const ErrorRecursion& cap);

}  // namespace alidade::detail
