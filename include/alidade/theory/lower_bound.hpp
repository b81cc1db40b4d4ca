#pragma once

#include "alidade/theory/bound_setting.hpp"

/// Theorem 3 of the paper: what no algorithm can do. The paper's constant is unspecified; ours is from a
/// direct argument on the same family of instances, in docs/bounds.md.
namespace alidade {

/// d^2 H^3 / epsilon^2: the rate of Theorem 3, with constant 1. Not a bound.
double lower_bound_rate(const BoundSetting& setting, double epsilon);

/// Sums over a hard instance: H+2 states, exit probability of the step in [1/H - m, 1/H + m], reward for
/// each step after the exit. H >= 2 and 0 < m <= 1/(2H).
struct HardInstance {
    double margin = 0;   ///< m = min{1/(2H), B - 1}: what B and probabilities allow (d-1) Delta to be
    double least = 0;    ///< loss for a wrong choice everywhere, over 2 (d-1) Delta: at least
    double largest = 0;  ///< ... and at most
    double signal = 0;   ///< g: the total variation of two instances is at most g sqrt(H K) Delta
};
HardInstance hard_instance(const BoundSetting& setting);

/// Explicit Theorem 3: every algorithm whose policy is, with probability 1 - delta on every linear mixture
/// MDP of this size, within epsilon of optimal, explores at least this many episodes. 0 where nothing is
/// claimed: epsilon above some H/10, delta above some 0.3, B = 1, d = 1 or H = 1.
double lower_bound_episodes(const BoundSetting& setting, double epsilon);

/// The other way round: with K episodes, no algorithm has a smaller epsilon than this.
double lower_bound_accuracy(const BoundSetting& setting, double episodes);

}  // namespace alidade
