#pragma once

#include <span>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Bounds of (theta - theta~) . direction over a set, theta~ its `weights()`.
inline Interval range_about_weights(const ConfidenceSet& set, std::span<const double> direction) {
    const Interval range = set.range(direction);
    double here = 0;
    for (std::size_t i = 0; i < direction.size(); ++i)
        here += set.weights()[static_cast<Index>(i)] * direction[i];
    return {range.lower - here, range.upper - here};
}

/// Its upper end, or less, by the convex set that the ellipsoid is about: for few directions.
inline double sharp_reach(const ConfidenceSet& set, std::span<const double> direction) {
    double here = 0;
    for (std::size_t i = 0; i < direction.size(); ++i)
        here += set.weights()[static_cast<Index>(i)] * direction[i];
    return set.sharp_upper(direction) - here;
}

}  // namespace alidade::detail
