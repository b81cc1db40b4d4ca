#pragma once

#include "alidade/types.hpp"

namespace alidade {

/// What the sample-size theorems are told beforehand: sizes and a failure probability, no data.
struct BoundSetting {
    Index features = 1;     ///< d >= 1
    Index horizon = 1;      ///< H >= 1
    double norm_bound = 1;  ///< B >= 1, bound of |theta_h| where |phi_V| <= 1 for V in [0,1]
    double delta = 0.1;     ///< failure probability, all together, in (0, 1)
};

/// B of d base models: their features must be divided by sqrt(d) to have |phi_V| <= 1, which multiplies
/// the weights by as much [theory §2, erratum 20].
double base_model_norm_bound(Index features);

/// Throws InvalidArgument unless all members are in their ranges. B < 1 is impossible: 1 = theta.phi_1 <= B.
void validate(const BoundSetting& setting);

/// Throws InvalidArgument unless epsilon is in (0, H]; no loss can exceed H.
void validate_accuracy(double epsilon, Index horizon);

/// Throws InvalidArgument unless K is at least 1 and finite.
void validate_episodes(double episodes);

}  // namespace alidade
