#pragma once

#include <optional>

#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// That the truth is off every mixture, and by how much at least.
struct MisspecificationBound {
    double lower = 0;  ///< zeta_low in [0, 1): some true law is farther from its mixture, in total variation
    double level = 0.01;       ///< probability that this is wrong, at any time
    std::optional<Step> step;  ///< where that was found; none where it is 0, or steps are pooled
    /// The same where laws may change with time, with the past and with anything hidden: `lower` takes each
    /// pair to have one law a step. At most `lower`, and usually far less.
    double varying = 0;
};

/// The largest zeta that the data refute: under it, whatever the weights and whatever law within zeta of the
/// mixture each pair follows, the data would be improbable beyond `level`. It holds at all times at once and
/// however actions were chosen. Two arguments with half of the level each: by likelihood, if every pair has
/// one law at a step that does not change with time [docs/algorithms/model-check.md, Theorem 3], and by bets,
/// which ask for nothing of the kind [docs/algorithms/model-check.md, Theorem 4]. It says nothing about how
/// much more the truth may be off: no data can. Transitions to where no base model leads count, where they
/// were counted.
MisspecificationBound misspecification_lower(const FeatureMap& features, const Counts& counts,
                                             bool homogeneous, double level = 0.01);

}  // namespace alidade
