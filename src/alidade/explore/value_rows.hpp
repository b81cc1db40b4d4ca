#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "alidade/model/counts.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Where a transition was seen, and what set learns from it.
struct RowPlace {
    Step step = 0;
    Index set = 0, pair = 0;
};

/// One row of a value-targeted regression, repeated: all visits of a pair in a batch share V in [0,1].
struct ValueRow : RowPlace {
    std::span<const double> feature;  ///< psi_V, in the coordinates of the regression
    std::int64_t visits = 0;
    double residuals = 0;  ///< sum over them of V(s') less what the centre predicts
};

/// The V of a place, by the successors of its pair; in [0,1].
using ValueOf = std::function<double(const RowPlace& place, Index successor)>;

/// Calls visit(row) for every pair that a batch has visited at a learned step.
void visit_value_rows(const Task& task, const TangentFeatures& coordinates, const Counts& batch,
                      const ValueOf& value, const std::function<void(const ValueRow&)>& visit);

}  // namespace alidade::detail
