#pragma once

#include <utility>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"

namespace alidade::support {

/// The same sets, of which nothing but the ellipsoids is known: every member of these is one.
inline LearnedMixture without_levels(const LearnedMixture& learned) {
    std::vector<ConfidenceSet> sets;
    for (const ConfidenceSet& set : learned.sets()) sets.push_back(set.within_level(nullptr));
    return LearnedMixture(learned.model().shared_features(), learned.shape().horizon, learned.model().start(),
                          learned.homogeneous(), std::move(sets), learned.delta(),
                          learned.misspecification());
}

}  // namespace alidade::support
