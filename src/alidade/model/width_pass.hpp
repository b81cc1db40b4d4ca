#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// Widths of all pairs in one metric: max over V in {0,1} of |inverse_factor psi_V|, from both sides.
struct WidthStep {
    const TangentFeatures* coordinates = nullptr;  ///< of a hull, so that the psi of a pair sum to zero
    const Matrix* inverse_factor = nullptr;  ///< of the metric: the inverse of its lower Cholesky factor
    Index most_successors = 12;              ///< pairs that have more are asked alone; at most 20
    /// Fills in one pair: what has more successors, or numbers at the ends of their range. Every thread calls
    /// a function of its own, which `alone` makes.
    std::function<std::function<void(Index pair)>()> alone;
    std::span<double> lower, upper;    ///< one a pair: written
    std::span<std::uint8_t> witness;   ///< one an entry: the V that attains `lower`, written
    LaneWidth width = widest_lanes();  ///< no wider than that; the same bits
};

/// By trying every vertex, eight pairs side by side: the bits of Width::bracket, which tries one pair's.
void pass_over_widths(const FeatureMap& features, const WidthStep& step, Threads threads);

}  // namespace alidade::detail
