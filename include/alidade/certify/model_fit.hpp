#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A pair whose transitions speak against the mixture.
struct Misfit {
    std::optional<Step> step;  ///< none where the steps are pooled
    State state = 0;
    Action action = 0;
    double log_evidence = 0;  ///< what the pair alone says against the mixture, in nats
    std::int64_t visits = 0;  ///< of the pair, > 0
    State successor = 0;      ///< the one that was seen most above expectation
    std::int64_t seen = 0;    ///< how often
    double expected = 0;      ///< how often the best weights would have it: visits times probability

    bool operator==(const Misfit&) const = default;
};

/// What an alternative to the mixtures makes of the data.
struct Evidence {
    /// "rows", "rows by step", "foreign: NAME", "kt", "kt by step", "weights by action" or "weights by step"
    std::string alternative;
    double parameter = 0;      ///< concentration of "rows", share of "foreign"; 0 of the others
    std::optional<Step> step;  ///< of which step; none: of all of them
    double log_evidence = 0;   ///< the least over all weights, in nats; that of all steps is the sum

    bool operator==(const Evidence&) const = default;
};

/// Whether the data contradict the assumption that every transition law is a mixture of the base models.
struct ModelFit {
    double level = 0.01;         ///< probability of a contradiction though the model is right, in (0, 1)
    double log_evidence = 0;     ///< ln E; 0 without data
    double threshold = 0;        ///< ln(1 / level)
    bool contradicted = false;   ///< log_evidence >= threshold, or a transition led where no base model leads
    std::vector<Evidence> best;  ///< the alternatives that explain most, the strongest first; at most five
    std::optional<Misfit> worst;  ///< the pair that speaks most against the model; none without data
    /// Errors below about this, in total variation, cannot be expected to be seen in these data: a scale, not
    /// a bound [docs/algorithms/model-check.md, What it can see]. 1 without data.
    double unseen = 1;
    /// The evidence by Krichevsky and Trofimov's predictor alone, the largest over the confidence sets,
    /// beside the other; `sets` has that of each. It is valid against ln(sets / level).
    double kt = 0;
    std::vector<double> sets;
};

/// The evidence E is a mean over alternatives of their probabilities of what was seen over those of the
/// mixture, at the weights at which that is least. Most alternatives follow the mixture: "rows" lets every
/// row be a random law about it, "foreign" mixes a share of another kernel in. For each the least over the
/// weights is a convex program, whose value is bounded from below by convexity and not trusted to a search.
/// The steps are multiplied, and taken one by one. If every row is a mixture, E ever reaches 1/level with
/// probability `level` at most, however the actions are chosen and whenever one stops
/// [docs/algorithms/model-check.md, Theorem 1].
///
/// `suspects` are kernels that may be mixed in, for all one knows before the data are seen; they share the
/// weight of those that are always tried. Rows that do not sum to one within 1e-9 are refused.
///
/// Transitions to where no base model leads, where they are counted, contradict the mixture by themselves and
/// are otherwise left out. With pooled steps alternatives may pool them or not.
ModelFit check_model(const FeatureMap& features, const Counts& counts, bool homogeneous, double level = 0.01,
                     std::span<const BaseKernel> suspects = {});

}  // namespace alidade
