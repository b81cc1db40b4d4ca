#pragma once

#include <algorithm>

#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// What is handed over deserves tighter widths than what steers exploration: some two hundred thousand nodes
/// of branch and bound in all, shared evenly among sets and pairs, so that the result depends on the
/// problem's sizes alone.
inline WidthOptions thorough_widths(Index sets, Index pairs, WidthMethod method = WidthMethod::exact) {
    return {.method = method,
            .nodes = std::clamp<Index>(200'000 / std::max<Index>(1, sets * pairs), 1, 2'000)};
}

}  // namespace alidade::detail
