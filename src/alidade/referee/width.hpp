#pragma once

#include <vector>

#include "numbers.hpp"

namespace alidade::referee::detail {

/// max over V in {0,1}^m of |sum_j V_j g_j|, or more.
struct Width {
    Real upper = 0;
    bool exact = true;  ///< false: beyond the limits of enumeration, and only an upper bound
};

/// [docs/algorithms/hoeffding.md, 4. Widths] `generators` are m vectors of equal length whose sum is zero up
/// to rounding.
Width width_of(const std::vector<Numbers>& generators);

}  // namespace alidade::referee::detail
