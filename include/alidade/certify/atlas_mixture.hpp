#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What is wanted of an objective's true value: at least this, in rewards; nothing where there is none.
using AtlasTargets = std::vector<std::optional<double>>;

/// Policies of an atlas of which one is drawn at the start of each episode. (Drawing anew at each step would
/// be another policy, of which nothing is known.)
struct AtlasMixture {
    std::vector<std::pair<Index, double>>
        shares;                    ///< policies of the atlas with probabilities > 0 that sum to 1
    std::vector<Interval> values;  ///< contain the true expected values of each objective, 0 to H
    /// The least over the targets of what is guaranteed less what is wanted: the targets are met for certain
    /// if it is not negative.
    double margin = 0;
    /// Weights under which no policy at all can have what is wanted; empty if nothing excludes it. Then the
    /// targets are not met for certain, yet some mixture of the atlas is within its loss of any policy that
    /// does meet them.
    std::vector<double> excluded_by;

    bool guaranteed() const noexcept { return margin >= 0; }
    bool excluded() const noexcept { return !excluded_by.empty(); }
};

/// The mixture of an atlas's policies with the largest margin [docs/algorithms/atlas.md, Theorem 6].
/// Which one it is, a linear program says; what is guaranteed is computed from the mixture itself. Throws
/// InvalidArgument unless there is a target, and one entry an objective, each target from 0 to H.
AtlasMixture mixture_for(const Atlas& atlas, const AtlasTargets& targets);

}  // namespace alidade
