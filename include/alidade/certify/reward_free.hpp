#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// How much one (step, state, action) adds to a reward-free certificate: what the next experiment is for.
struct Contribution {
    Step step = 0;
    State state = 0;
    Action action = 0;
    double amount = 0;  ///< in units of loss; all sum to their candidate, less the rounding slack
};

/// The claim: with probability 1 - failure_probability, for every reward in [0,1] at once, a plan that is
/// greedy in the learned model in every state of every step, as backward induction makes them, loses at most
/// `bound` on the real system; one that is eps short of optimal in the model at the start, at most `any_plan`
/// + eps [docs/algorithms/two-chains.md, Which plans].
struct RewardFreeCertificate {
    double bound = 0;  ///< min(least candidate, H), of plans that are greedy in every state
    /// The same of any plan, less what it is short of optimal in the model: by the candidates that are about
    /// all policies' values; min(least of these, H). Nothing is claimed of such plans until it is set.
    double any_plan = std::numeric_limits<double>::infinity();
    bool vacuous = true;  ///< the least candidate is H or more: the bound says nothing
    std::string method;   ///< the candidate that gave the bound
    std::vector<std::pair<std::string, double>> candidates;  ///< every candidate, not clipped at H
    double failure_probability = 0;                          ///< delta
    std::vector<Contribution> contributions;                 ///< the largest, in falling order
    /// How candidates were computed of which there are several forms, in words, and why others were left out.
    std::vector<std::pair<std::string, std::string>> forms = {};
    /// What an algorithm's paper claims with constants that it leaves open: not proved, and no candidate.
    std::vector<std::pair<std::string, double>> unproved = {};
};

/// What values at the next step range over: H-1-h, or all of H as the paper has it.
struct ValueRanges {
    Index horizon = 1;
    bool exact = true;

    double at(Step h) const noexcept { return static_cast<double>(exact ? horizon - 1 - h : horizon); }
};

struct RewardFreeOptions {
    std::vector<std::string> certificates;  ///< names of the catalogue; none: all that apply
    std::vector<std::string> without;       ///< of these, those that are left out
    bool ranges = true;                     ///< values range over H-1-h; false: H, to see what it costs
    std::size_t contributions = 10;         ///< how many are returned
    Threads threads;                        ///< of the recursions
};

/// Certifies on one and the same confidence event by the recursions that there are by name, and
/// reports the smallest:
///  - `model`: D_h = (P - P~) V + P~ D_{h+1}, so E_h = max_a min(H-1-h, (H-1-h) tau + P~ E_{h+1})
///    [oracle §0.4];
///  - `coupling`: the part of P~ that a coupling with the truth may lose is taken from the successors
///    with the smallest error: W_h = max_a ((H-1-h) tau + (P~ less mass tau) W_{h+1}) [likelihood §4 A];
///  - `span`: errors of values by their spans [docs/algorithms/hoeffding.md, Lemma 4b];
///  - `trajectory-kl`: the KL divergence of trajectories, and Pinsker [docs/algorithms/likelihood.md,
///    Theorem 5];
///  - `hybrid`: coupling, with every value cut at that of `trajectory-kl`;
///  - `ltv`: the law of total variance [docs/algorithms/likelihood.md, Theorem 8], cut at the least of
///    the other recursions under the model.
///  - `optimal-span` and `two-chain`: of greedy plans alone [docs/algorithms/two-chains.md, Theorem 5];
///    left out beyond 10,000 pairs.
/// Those from `trajectory-kl` to `ltv` need bounds of divergences (LearnedModel::divergence_refusal), and are
/// left out otherwise. The bound is twice the value at the start, plus a rounding slack. Contributions are
/// those of the last two where one of them is the smallest, else of `coupling` where it is asked for, else of
/// `model`: they say where to look. With one action every bound is 0.
/// Throws InvalidArgument unless the deviations fit the model (DeviationTable::require_fit), as all
/// recursions do, and of a certificate that was named but is unknown or cannot be had.
RewardFreeCertificate certify_reward_free(const LearnedModel& learned, const DeviationTable& deviations,
                                          const RewardFreeOptions& options = {});

/// E_h or W_h and the actions that attain them, for one of the recursions above.
struct ErrorRecursion {
    Matrix values;                      ///< H rows of S; the last row is zero
    std::vector<std::int32_t> actions;  ///< (H-1) x S: the worst action
};

ErrorRecursion model_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardFreeOptions& options = {});
ErrorRecursion coupling_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                  const RewardFreeOptions& options = {});

}  // namespace alidade
