#pragma once

#include "alidade/confidence/confidence_set.hpp"

namespace alidade::detail {

/// An ellipsoid about what two confidence sets of the same weights have in common, cut with the parameters:
/// for any share a in [0, 1] the members of both satisfy
///   a |z - z_1|^2_1 / r_1^2 + (1 - a) |z - z_2|^2_2 / r_2^2 <= 1,
/// which is an ellipsoid; the share with the least volume is taken, so it is never larger than the smaller of
/// both, which are among the candidates. Contains every common member whatever rounding did. Throws
/// InvalidArgument if the sets are about different parameters, ModelContradiction if they have no member in
/// common: then one of the two events has failed.
ConfidenceSet intersection(const ConfidenceSet& first, const ConfidenceSet& second);

}  // namespace alidade::detail
