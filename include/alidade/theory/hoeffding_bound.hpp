#pragma once

#include "alidade/theory/bound_setting.hpp"

/// Theorem 1 of the paper: Algorithm 1 with the printed constants. K is fixed before the run.
namespace alidade {

/// log(4 H^3 K B^2 / delta), the paper's iota_1.
double hoeffding_iota1(const BoundSetting& setting, double episodes);
/// log(1 + K H^2 B^2 / d), the paper's iota_2.
double hoeffding_iota2(const BoundSetting& setting, double episodes);

/// The printed radius, beta = H sqrt(d iota_1) + sqrt(lambda) B with lambda = B^-2 [paper, Alg. 1 line 2].
double hoeffding_radius(const BoundSetting& setting, double episodes);

/// What Theorem 1 guarantees after K episodes, whatever the reward: 24 H^2 d sqrt(iota_1 iota_2 / K), to
/// which the planner's error adds. Vacuous where it is H or more. The constant is proved for H >= 2
/// [theory §2, erratum 15]; at H = 1 there is nothing to learn.
double hoeffding_guarantee(const BoundSetting& setting, double episodes);

/// Episodes that Theorem 1 asks for: the least K >= 576 H^4 d^2 iota_1(K) iota_2(K) / epsilon^2. With
/// epsilon = H, the K below which it is vacuous.
double hoeffding_episodes(const BoundSetting& setting, double epsilon);

}  // namespace alidade
