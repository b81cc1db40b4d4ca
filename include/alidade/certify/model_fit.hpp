#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A pair whose transitions speak against the mixture.
struct Misfit {
    std::optional<Step> step;  ///< none where the steps are pooled
    State state = 0;
    Action action = 0;
    double log_evidence = 0;  ///< what the pair adds to the set's logarithm of evidence, in nats
    std::int64_t visits = 0;  ///< of the pair, > 0
    State successor = 0;      ///< the one that was seen most above expectation
    std::int64_t seen = 0;    ///< how often
    double expected = 0;      ///< how often the best weights would have it: visits times probability

    bool operator==(const Misfit&) const = default;
};

/// Whether the data contradict the assumption that every transition law is a mixture of the base models.
struct ModelFit {
    double level = 0.01;          ///< probability of a contradiction though the model is right, in (0, 1)
    double log_evidence = 0;      ///< the largest ln E over the confidence sets; 0 without data
    double threshold = 0;         ///< ln(sets / level)
    bool contradicted = false;    ///< log_evidence >= threshold
    std::vector<double> sets;     ///< ln E of each confidence set: one for each learned step, or one of all
    std::optional<Misfit> worst;  ///< the pair that speaks most against the model; none without data
};

/// The evidence of a set is E = prod over (s,a) of KT(counts) / max over weights of the likelihood, KT the
/// probability that Krichevsky and Trofimov's predictor, (n_j + 1/2) / (n + m/2) for each of m successors,
/// gives to what was seen [likelihood §7].
///
/// Why it is evidence. Let theta* be the true weights and M_t = prod KT / prod theta*.f, a product with one
/// factor for each transition. Given the past and (s,a), the expectation of the next factor is the sum of
/// the predictor's probabilities over the successors that theta* can produce, at most 1: M is a
/// non-negative supermartingale with M_0 = 1, however the actions are chosen and whenever one stops. The
/// maximum is at least the likelihood of theta*, so E_t <= M_t at all times, and by Ville's inequality
/// E_t >= sets/level ever happens in any of the sets with probability at most `level`. The maximum is
/// replaced by the fit's log-likelihood plus its measured gap, so no search is trusted. Rows on which the
/// base models agree say nothing about the weights, but here they count: their law is claimed to be known.
///
/// With pooled steps E is the mean of two such products, of a predictor that pools the steps too and of one
/// that does not: the second sees weights that change with the step.
ModelFit check_model(const FeatureMap& features, const Counts& counts, bool homogeneous, double level = 0.01);

}  // namespace alidade
