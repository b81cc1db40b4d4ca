#pragma once

namespace alidade::detail {

/// What a visit is worth, given what is known already [likelihood §5].
enum class FisherBonus {
    sqrt,      ///< how far the certificate's terms would move: (H-1-h) min(1, sqrt(B leverage / 2))
    gain,      ///< information: log det(1 + J^-1 I), no constants
    leverage,  ///< the largest eigenvalue of J^-1 I
};

}  // namespace alidade::detail
