#pragma once

#include <vector>

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
    /// gamma >= 0: c_h = c ((2n-1)/(2n_0-1))^(gamma/2), n = H-1-h: smaller at later steps, where less is left
    /// to vary.
    double falling = 0;
};

/// c_h of every learned step.
std::vector<double> variance_weights(Index horizon, const TotalVarianceWeights& weights);
/// B_h = sum over k >= h of (n_k^2 - n_{k+1}^2)/(8 c_k), of every step: no policy's variances in the model,
/// from step h on, add up to more when each is divided by its 2 c_k [docs/algorithms/likelihood.md, Lemma 7].
std::vector<double> variance_allowances(Index horizon, const TotalVarianceWeights& weights);

/// U_h of [bernstein §4.3]: with G the chi-square divergences, n = H-1-h and all maxima over the set,
///   U_h = max_a ( min(n tau, (c_h/2)(1+eta)^h G) + min( (1+eta) P~ U_{h+1} + G (n-1)/(4 eta),
///                 max P U_{h+1} + tau B_{h+1} (1+eta)^-(h+1) ) ),
/// cut at `cap`, any bound of the value errors. Then U_0 + B_0 bounds the value error at every start state.
/// `divergences` are those of chi-square. The proof is in docs/algorithms/likelihood.md. Of a class of
/// rewards n, n-1 and H-1 are what can be earned after the step, after the next, and after the first; its
/// weights do not fall, which is proved of all rewards alone, so that B_h is what is left to earn squared,
/// over 8c.
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

/// U_h + (1+eta)^-h B_h: a bound of the value errors at every step and state, not only the first
/// [docs/algorithms/two-chains.md, What F is].
ErrorRecursion total_variance_errors(const LearnedModel& learned, const DeviationTable& deviations,
                                     const DivergenceTable& divergences, const ErrorRecursion& cap,
                                     const TotalVarianceWeights& weights, Threads threads = {});

}  // namespace alidade::detail
