#pragma once

#include "alidade/theory/bound_setting.hpp"

/// Theorem 2 of the paper: Algorithm 2, whose constants the paper does not give. Here its proof is repaired
/// and solved numerically: bonus 2 beta-hat for optimism, best iterate instead of the last one (the
/// printed monotonicity is false), and every inequality with its constant.
namespace alidade {

/// Which radii the proof is solved with.
enum class BernsteinRadii {
    /// As printed. Their event fails with probability up to 11 delta / 8 (erratum 7); they drop a term,
    /// which is covered for large K only (erratum 8), and a logarithm is too small if d > H^2 (erratum 9).
    printed,
    /// Zhou et al.'s theorem as it stands, with failure delta / (16 H) for each of seven families at each
    /// step; Azuma for every step at once. Valid at every K.
    safe,
};

/// Radii of the five regressions of Algorithm 2.
struct BernsteinRadius {
    double weighted = 0;  ///< beta-hat: rows divided by a valid bound of the standard deviation
    double coarse = 0;    ///< beta-check: the same rows before that bound is known to be valid
    double squares = 0;   ///< beta-tilde: unweighted rows of squared values, and of variances to go
};

/// The radii after K episodes, each with sqrt(lambda) B = 1 included.
BernsteinRadius bernstein_radii(const BoundSetting& setting, double episodes, BernsteinRadii kind);

/// Bound of the sum over K episodes of the optimistic values V_{k,1} that Algorithm 2 maximises.
double bernstein_value_sum(const BoundSetting& setting, double episodes, BernsteinRadii kind);

/// What the repaired Theorem 2 guarantees after K episodes: 4/K times the sum of values, the planner's error
/// aside. Vacuous where it is H or more.
double bernstein_guarantee(const BoundSetting& setting, double episodes, BernsteinRadii kind);

/// Episodes that the repaired Theorem 2 asks for: the least K whose guarantee is at most epsilon. With
/// epsilon = H, the K below which it is vacuous.
double bernstein_episodes(const BoundSetting& setting, double epsilon, BernsteinRadii kind);

}  // namespace alidade
