#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Where a truth may lead that is off its mixture.
enum class Reach {
    anywhere,  ///< to any state
    support,   ///< only where some base model leads, as somebody vouches who knows the system
};

/// "anywhere" and "support".
std::string to_string(Reach reach);
/// Throws InvalidArgument with the names there are.
Reach parse_reach(std::string_view name);

/// What may be known of a problem before its system is tried: no reward and no truth, by type. Explorers and
/// certificates see nothing else of it.
struct Task {
    SharedFeatures features;  ///< of transitions; none where `linear` are those of pairs
    Index horizon = 1;        ///< H >= 1
    StartLaw start{0};
    bool homogeneous = false;             ///< one set of weights for all steps; data are pooled
    double misspecification = 0;          ///< zeta: largest total variation between the truth and its mixture
    SharedPairFeatures linear = nullptr;  ///< of a linear MDP; none for mixtures
    Reach reach = Reach::anywhere;        ///< of what is off the mixture

    SharedSuccessors successors() const {
        if (linear) return linear;
        return features;
    }
    Shape shape() const {
        const SharedSuccessors map = successors();
        return {map->states(), map->actions(), horizon};
    }
    /// What becomes of a transition that no base model can produce: it is data where the truth may be off its
    /// mixture and lead anywhere.
    Elsewhere elsewhere() const {
        return misspecification > 0 && reach == Reach::anywhere ? Elsewhere::counted : Elsewhere::refused;
    }
};

/// How far from the mixtures the truth may be, where somebody says otherwise than the problem does.
struct AssumedError {
    std::optional<double> misspecification = {};  ///< zeta in [0, 1); none: the problem's
    std::optional<Reach> reach = {};              ///< none: the problem's

    bool operator==(const AssumedError&) const = default;
};

/// The task under these assumptions. Throws InvalidArgument of a misspecification out of range, or of a
/// linear MDP's.
Task assuming(Task task, const AssumedError& assumed);

}  // namespace alidade
