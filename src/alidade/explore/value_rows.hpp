#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "alidade/model/counts.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// One row of a value-targeted regression, repeated: all visits of a pair in a batch share V in {0,1}.
struct ValueRow {
    Index set = 0, pair = 0;
    std::span<const double> feature;  ///< psi_V, in the coordinates of the regression
    std::int64_t visits = 0;
    double residuals = 0;  ///< sum over them of V(s') less what the centre predicts
};

/// The V of every set and pair, by successors.
using ValueOf = std::function<bool(Index set, Index pair, Index successor)>;

/// Calls visit(row) for every pair that a batch has visited at a learned step.
void visit_value_rows(const Task& task, const TangentFeatures& coordinates, const Counts& batch,
                      const ValueOf& value, const std::function<void(const ValueRow&)>& visit);

}  // namespace alidade::detail
