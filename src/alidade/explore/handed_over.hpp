#pragma once

#include "../certify/thorough_widths.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/task.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// The widths of what is handed over of a task.
inline WidthOptions thorough_widths(const Task& task, WidthMethod method) {
    return thorough_widths(confidence_sets(task.horizon, task.homogeneous), task.features->pairs(), method);
}

}  // namespace alidade::detail
