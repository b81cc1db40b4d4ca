#pragma once

#include <cmath>
#include <limits>

#include "alidade/types.hpp"

namespace alidade::detail {

/// Makes `count` probabilities, `stride` apart, sum to one up to rounding. Input is allowed to be off by
/// 1e-9, but a certificate is not: over H steps that would grow to more than its rounding slack. Numbers
/// that sum to one already are left alone, so doing it twice changes nothing.
inline void normalise(double* first, Index count, Index stride = 1) {
    double sum = 0;
    for (Index i = 0; i < count; ++i) sum += first[i * stride];
    if (std::abs(sum - 1) <= static_cast<double>(count) * std::numeric_limits<double>::epsilon()) return;
    for (Index i = 0; i < count; ++i) first[i * stride] /= sum;
}

}  // namespace alidade::detail
