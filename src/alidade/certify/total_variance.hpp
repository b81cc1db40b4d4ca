#pragma once

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/transition_operator.hpp"
#include "alidade/types.hpp"
#include "divergence.hpp"
#include "reward_caps.hpp"

namespace alidade::detail {

/// The two free numbers of the certificate by the law of total variance. Any positive ones give a bound.
struct TotalVarianceWeights {
    double variance = 1;  ///< c: a larger one makes variances cheaper and leverages dearer
    double growth = 0.1;  ///< eta: by how much a step may enlarge what comes after it
};

/// U_h of [bernstein §4.3]: with G the chi-square divergences, n = H-1-h and all maxima over the set,
///   U_h = max_a ( min(n tau, (c/2)(1+eta)^h G) + min( (1+eta) P~ U_{h+1} + G (n-1)/(4 eta),
///                 max P U_{h+1} + tau (n-1)^2 (1+eta)^-(h+1) / (8c) ) ),
/// cut at `cap`, any bound of the value errors. Then U_0 + (H-1)^2/(8c) bounds the value error at every start
/// state. `divergences` are those of chi-square. The proof is in docs/algorithms/likelihood.md. Of a class of
/// rewards n, n-1 and H-1 are what can be earned after the step, after the next, and after the first.
ErrorRecursion total_variance_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const TotalVarianceWeights& weights, Threads threads = {});
ErrorRecursion total_variance_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const RewardCaps& caps, const TotalVarianceWeights& weights,
                                        Threads threads = {});

/// The least bound of the value error at the start that a search over the weights found, and the weights.
struct TotalVarianceBound {
    double error = 0;
    TotalVarianceWeights weights;
};
TotalVarianceBound total_variance_bound(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        Threads threads = {});
TotalVarianceBound total_variance_bound(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const RewardCaps& caps, Threads threads);
/// The same by an operator that is at hand, for models of which `by_operator` holds.
TotalVarianceBound total_variance_bound(const LearnedMixture& learned, const TransitionOperator& passes,
                                        const DeviationTable& deviations, const DivergenceTable& divergences,
                                        const ErrorRecursion& cap, const RewardCaps& caps);

}  // namespace alidade::detail
