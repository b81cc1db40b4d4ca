#pragma once

#include "alidade/theory/bound_setting.hpp"

/// The paper's theorem for linear MDPs, P_h(s'|s,a) = mu_h(s').phi(s,a) (Algorithms 3 and 4). Its constants
/// are unspecified; for finitely many states, explicit ones are ours. The norm bound of the setting is not
/// used: |phi| <= 1 and |sum_s' mu(s') V(s')| <= sqrt(d) for V in [0,1].
namespace alidade {

/// c_beta d H sqrt(log(dH/(delta epsilon))), the radius as printed.
double linear_mdp_printed_radius(const BoundSetting& setting, double epsilon, double c_beta);

/// c_K d^3 H^4 log(dH/(delta epsilon)) / epsilon^2, the episodes as printed. With c_K = 1 a rate, not a
/// bound; the proof loses another logarithm [theory §2, erratum 47].
double linear_mdp_printed_episodes(const BoundSetting& setting, double epsilon, double c_K);

/// What a regression of linear MDPs was given.
struct LinearMdpEvidence {
    Index states = 1;           ///< S >= 1
    double range = 1;           ///< of the values V, in [0, range]
    double log_det_ratio = 0;   ///< log(det L / det lambda I)
    double regularisation = 1;  ///< lambda
};

/// range * (1/2 sqrt(log_det_ratio + 2 (S log 2 + log(1/failure))) + sqrt(lambda d)): with probability
/// 1 - failure the regression of every V in [0, range]^S on the data is within this of P V, at all times.
/// The deviation is convex in V, so a union over the 2^S vertices suffices [theory §1.7].
double linear_mdp_radius(const LinearMdpEvidence& evidence, Index features, double failure);

/// What Algorithms 3 and 4 with that radius, fixed for K episodes, guarantee for every reward in [0,1],
/// linear or not. Vacuous where it is H or more.
double linear_mdp_guarantee(const BoundSetting& setting, Index states, double episodes);

/// The least K whose guarantee is at most epsilon. With epsilon = H, the K below which it is vacuous.
double linear_mdp_episodes(const BoundSetting& setting, Index states, double epsilon);

}  // namespace alidade
