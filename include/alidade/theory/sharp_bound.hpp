#pragma once

#include "alidade/theory/bound_setting.hpp"

/// By when Algorithm 1 with the sharp constants must have stopped: our own bound, with proof in
/// docs/bounds.md. For d base models with weights of their own at each step, exact widths, and a certificate
/// at each new policy; up to rounding_slack. Validity of certificates needs none of it.
namespace alidade {

/// Radius of a confidence set of the sharp constants after K episodes, at most: (1/2) sqrt((d-1) log(1 +
/// K d/(d-1)) + 2 log((H-1)/failure)) + (1/2) sqrt(1 - 1/d). H >= 2 and d >= 2.
double sharp_radius_bound(const BoundSetting& setting, double episodes, double failure);

/// A run with failure probability delta/2 has, with probability 1 - delta, reported a certificate of at
/// most this after K episodes. `growth` is how much a determinant may grow before a new policy is computed:
/// 0 for a new policy at each episode, 1 for doubling (tested after each episode). The norm bound is
/// not used. 0 where there is nothing to learn (H = 1 or d = 1).
double sharp_guarantee(const BoundSetting& setting, double episodes, double growth = 0);

/// The least K whose guarantee is at most epsilon. With epsilon = H, the K below which it is vacuous.
double sharp_episodes(const BoundSetting& setting, double epsilon, double growth = 0);

/// Policies that a run of K episodes computes when determinants may grow by `growth` > 0, at most.
double sharp_policies(const BoundSetting& setting, double episodes, double growth);

}  // namespace alidade
