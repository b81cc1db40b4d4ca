#pragma once

#include <math.h>

namespace alidade::detail {

/// ln Gamma(x), x > 0. std::lgamma also writes the sign of Gamma to a variable of the whole process, which
/// two runs at once would both write.
inline double log_gamma(double x) {
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

}  // namespace alidade::detail
