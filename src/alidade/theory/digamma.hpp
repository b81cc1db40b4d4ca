#pragma once

#include <cmath>

namespace alidade::detail {

/// psi(x) = d/dx ln Gamma(x), x > 0: upwards by psi(x) = psi(x+1) - 1/x to where the asymptotic series has
/// all digits.
inline double digamma(double x) {
    double below = 0;
    while (x < 15) {
        below += 1 / x;
        x += 1;
    }
    const double square = 1 / (x * x);
    const double series =
        square *
        (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
    return std::log(x) - 0.5 / x - series - below;
}

/// psi'(x), x > 0, in the same way.
inline double trigamma(double x) {
    double below = 0;
    while (x < 15) {
        below += 1 / (x * x);
        x += 1;
    }
    const double one = 1 / x, square = one * one;
    const double series =
        one * square *
        (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square * (1.0 / 30 - square * 5.0 / 66))));
    return below + one + 0.5 * square + series;
}

}  // namespace alidade::detail
