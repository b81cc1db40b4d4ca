#pragma once

#include <vector>

#include "alidade/model/lanes.hpp"

namespace alidade::support {

/// Every width of vectors that this machine has, plain arithmetic first.
inline std::vector<detail::LaneWidth> lane_widths() {
    std::vector<detail::LaneWidth> widths;
    for (const auto width :
         {detail::LaneWidth::one, detail::LaneWidth::two, detail::LaneWidth::four, detail::LaneWidth::eight})
        if (width <= detail::widest_lanes()) widths.push_back(width);
    return widths;
}

}  // namespace alidade::support
