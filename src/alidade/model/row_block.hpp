#pragma once

#include <cstdint>
#include <vector>

#include "alidade/model/row_source.hpp"

namespace alidade::detail {

/// Rows of consecutive pairs as a feature map has them: targets ascending, without those that no base model
/// leads to, probabilities that sum to one up to rounding.
struct RowBlock {
    std::vector<std::int32_t> counts;   ///< successors of every pair
    std::vector<std::int32_t> targets;  ///< pair after pair
    std::vector<double> values;         ///< d for each target
};

/// Throws InvalidArgument unless a rule can be asked at all: sizes, names, the most successors.
void check_source(const RowSource& source);
/// The same, and that all its numbers may lie in memory, before any of them is made.
void require_room(const RowSource& source);

/// Makes those of pairs first .. last-1. Throws InvalidArgument naming the base model, state and action of a
/// bad row.
void make_block(const RowSource& source, Index first, Index last, RowBlock& block);

}  // namespace alidade::detail
