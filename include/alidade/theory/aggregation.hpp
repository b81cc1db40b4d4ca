#pragma once

#include <cstdint>

#include "alidade/types.hpp"

/// How far the law of a continuous system is from that of its grid, as formulas [theory §1.1].
namespace alidade {

/// Largest total variation between the laws of (the cell of) g(s) + W and g(t) + W for numbers s, t at most
/// `distance` apart, g with Lipschitz constant `slope`, and W with a density f of total variation `variation`
/// (2 max f if f has one peak, jumps at the ends of its support included).
/// The laws before clamping and binning differ by (1/2) int |f(w) - f(w - c)| dw <= c variation / 2 with
/// c = |g(s) - g(t)| <= slope * distance, and no map of the outcome makes them differ more. In [0, 1].
double shift_variation(double slope, double distance, double variation);

/// With probability 1 - failure, none of `laws` empirical laws is farther than this, in total variation, from
/// the mean of the laws that its `samples` independent draws came from, each over at most `cells` cells:
///     sqrt((cells - 1) / samples) / 2 + sqrt(log(laws / failure) / (2 samples)).
/// The first term bounds the mean (Cauchy-Schwarz over the standard deviations of the cells), the second the
/// excess over it (McDiarmid: one draw moves the distance by at most 1 / samples). In [0, 1].
double sampled_law_error(std::int64_t samples, Index cells, Index laws, double failure);

}  // namespace alidade
