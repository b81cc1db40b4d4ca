#pragma once

#include <algorithm>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/task.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// What is handed over deserves tighter widths than what steers exploration: some two hundred thousand nodes
/// of branch and bound in all, shared evenly, so that the result depends on the problem's sizes alone.
inline WidthOptions thorough_widths(const Task& task, WidthMethod method) {
    const Index problems =
        std::max<Index>(1, confidence_sets(task.horizon, task.homogeneous) * task.features->pairs());
    return {.method = method, .nodes = std::clamp<Index>(200'000 / problems, 1, 2'000)};
}

}  // namespace alidade::detail
