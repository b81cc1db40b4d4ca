#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "alidade/confidence/value_regression.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

/// How an explorer chooses among actions that its clipped values do not tell apart.
enum class Ties {
    unclipped,  ///< the value before it is clipped decides, then a draw
    first,      ///< the first action, as a printed argmax does: no signal while everything is clipped
                ///< [likelihood §8.4]
};

/// What a visit is worth to the likelihood explorer, given what is known already [likelihood §5].
enum class FisherBonus {
    sqrt,      ///< how far the certificate's terms would move: (H-1-h) min(1, sqrt(B leverage / 2))
    gain,      ///< information: log det(1 + J^-1 I), no constants
    leverage,  ///< the largest eigenvalue of J^-1 I
    none,      ///< nothing: uniformly random actions, the baseline
};

/// Which confidence sets a run's certificates rest on.
enum class ConfidenceChoice {
    own,         ///< the algorithm's own
    regression,  ///< value-targeted regression
    likelihood,  ///< likelihood ratios; base models only
    both,        ///< what both have in common, half of delta each
};

/// Whose constants an explorer uses, and how.
struct Constants {
    RegressionConstants regression;
    WidthMethod width = WidthMethod::exact;  ///< of the inner maximum over values
    Ties ties = Ties::unclipped;
    FisherBonus bonus = FisherBonus::sqrt;  ///< of the likelihood explorer
    bool prequential = false;               ///< its predictions on the way count as a further mixture
    ConfidenceChoice confidence = ConfidenceChoice::own;

    bool operator==(const Constants&) const = default;
};

/// "sharp", "sharp without hull,span", "paper of 100000 episodes, width l1, ties first". What is as by
/// default is left out; parse_constants reads it back, or throws InvalidArgument with what is allowed.
std::string to_string(const Constants& constants);
Constants parse_constants(std::string_view text);

/// "exact", "sdp" or "l1". Throws InvalidArgument with what is allowed.
WidthMethod parse_width_method(std::string_view text);
/// "unclipped" or "first".
Ties parse_ties(std::string_view text);
/// "sqrt", "gain", "leverage" or "none".
FisherBonus parse_bonus(std::string_view text);
std::string to_string(FisherBonus bonus);
/// "own", or "regression", "likelihood" or both with a comma between, in either order.
ConfidenceChoice parse_confidence(std::string_view text);
std::string to_string(ConfidenceChoice choice);

}  // namespace alidade
