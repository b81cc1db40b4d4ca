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

}  // namespace alidade::detail
