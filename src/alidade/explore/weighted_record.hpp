#pragma once

#include <span>
#include <vector>

#include "../confidence/weighted_regression.hpp"
#include "alidade/explore/snapshot.hpp"

namespace alidade::detail {

/// Statistics of all sets as fields of a snapshot, and back. Throws InvalidArgument if they do not fit or are
/// none that rows can have.
void write_weighted_statistics(std::span<const WeightedStatistics> statistics, Snapshot& record);
std::vector<WeightedStatistics> read_weighted_statistics(const Snapshot& record, Index sets, Index dimension,
                                                         Index pairs);

/// Throws InvalidArgument if a stored variance is below the least that rows have.
void require_variances(std::span<const double> variances);

}  // namespace alidade::detail
