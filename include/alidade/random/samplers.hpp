#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

/// Samplers of our own: those of the standard library differ between implementations, and the same
/// seed must give the same bytes everywhere.
namespace alidade {

/// Uniform on the 2^53 multiples of 2^-53 in [0, 1).
double sample_uniform(Stream& random);

/// Uniform on 0 .. count-1, without bias. Requires count >= 1.
Index sample_index(Stream& random, Index count);

/// Position i with probability weights[i] / sum(weights). Never returns a position of weight zero.
/// Requires finite non-negative weights with a positive sum.
Index sample_categorical(Stream& random, std::span<const double> weights);

/// Number of successes in `trials` independent trials, exact in law (inversion for small means,
/// transformed rejection with the exact ratio otherwise). Requires trials >= 0, 0 <= probability <= 1.
std::int64_t sample_binomial(Stream& random, std::int64_t trials, double probability);

/// Splits `trials` over the cells of `weights` (as in sample_categorical), exact in law; `counts` has
/// the same length as `weights` and sums to `trials`.
void sample_multinomial(Stream& random, std::int64_t trials, std::span<const double> weights,
                        std::span<std::int64_t> counts);

/// Standard normal.
double sample_normal(Stream& random);

/// Gamma with the given shape (> 0) and scale 1. For tiny shapes the result may underflow to zero.
double sample_gamma(Stream& random, double shape);

/// Dirichlet with the given concentrations (> 0): non-negative, sums to one up to rounding, and well
/// defined for tiny concentrations too (the gammas are compared in logarithms).
std::vector<double> sample_dirichlet(Stream& random, std::span<const double> concentrations);

/// Symmetric Dirichlet of the given size (>= 1) and concentration (> 0).
std::vector<double> sample_dirichlet(Stream& random, Index size, double concentration);

}  // namespace alidade
