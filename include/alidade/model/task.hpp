#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What may be known of a problem before its system is tried: no reward and no truth, by type. Explorers and
/// certificates see nothing else of it.
struct Task {
    SharedFeatures features;  ///< of transitions; none where `linear` are those of pairs
    Index horizon = 1;        ///< H >= 1
    StartLaw start{0};
    bool homogeneous = false;             ///< one set of weights for all steps; data are pooled
    double misspecification = 0;          ///< zeta: largest total variation between the truth and its mixture
    SharedPairFeatures linear = nullptr;  ///< of a linear MDP; none for mixtures

    SharedSuccessors successors() const {
        if (linear) return linear;
        return features;
    }
    Shape shape() const {
        const SharedSuccessors map = successors();
        return {map->states(), map->actions(), horizon};
    }
};

}  // namespace alidade
