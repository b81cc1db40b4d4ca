#pragma once

#include "alidade/types.hpp"

/// What each theorem asks for, and guarantees, before any data are seen.
namespace alidade {

/// What the sample-size theorems are told beforehand: sizes and a failure probability, no data.
struct BoundSetting {
    Index features = 1;     ///< d >= 1
    Index horizon = 1;      ///< H >= 1
    double norm_bound = 1;  ///< B >= 1, bound of |theta_h| where |phi_V| <= 1 for V in [0,1]
    double delta = 0.1;     ///< failure probability, all together, in (0, 1)
};

/// B of d base models: their features must be divided by sqrt(d) to have |phi_V| <= 1, which multiplies
/// the weights by as much [theory §2, erratum 20].
double base_model_norm_bound(Index features);

/// Throws InvalidArgument unless all members are in their ranges. B < 1 is impossible: 1 = theta.phi_1 <= B.
void validate(const BoundSetting& setting);

/// Throws InvalidArgument unless epsilon is in (0, H]; no loss can exceed H.
void validate_accuracy(double epsilon, Index horizon);

/// Throws InvalidArgument unless K is at least 1 and finite.
void validate_episodes(double episodes);

// Theorem 1 of the paper: Algorithm 1 with the printed constants. K is fixed before the run.

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

// By when Algorithm 1 with the sharp constants must have stopped: our own bound, with proof in
// docs/bounds.md. For d base models with weights of their own at each step, exact widths, and a certificate
// at each new policy; up to rounding (1e-9 H). Validity of certificates needs none of it.

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

// Theorem 2 of the paper: Algorithm 2, whose constants the paper does not give. Here its proof is repaired
// and solved numerically: bonus 2 beta-hat for optimism, best iterate instead of the last one (the
// printed monotonicity is false), and every inequality with its constant.

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

// The paper's theorem for linear MDPs, P_h(s'|s,a) = mu_h(s').phi(s,a) (Algorithms 3 and 4). Its constants
// are unspecified. Explicit ones are ours for finitely many states, or follow from covering numbers for any.
// The norm bound of the setting is not used: |phi| <= 1 and |sum_s' mu(s') V(s')| <= sqrt(d) for V in [0,1].

/// c_beta d H sqrt(log(dH/(delta epsilon))), the radius as printed.
double linear_mdp_printed_radius(const BoundSetting& setting, double epsilon, double c_beta);

/// c_K d^3 H^4 log(dH/(delta epsilon)) / epsilon^2, the episodes as printed. With c_K = 1 a rate, not a
/// bound; the proof loses another logarithm [theory §2, erratum 47].
double linear_mdp_printed_episodes(const BoundSetting& setting, double epsilon, double c_K);

/// H times the radius of [theory §1.7] for S = `states` after K episodes, at most; lambda = 1. With
/// probability 1 - failure the regressions of every V in [0,H]^S on the data of a step are within this of P
/// V, at all K' <= K.
double linear_mdp_radius(const BoundSetting& setting, Index states, double episodes, double failure);

/// What Algorithms 3 and 4 with that radius, fixed for K episodes, guarantee for every reward in [0,1],
/// linear or not. Vacuous where it is H or more.
double linear_mdp_guarantee(const BoundSetting& setting, Index states, double episodes);

/// The least K whose guarantee is at most epsilon. With epsilon = H, the K below which it is vacuous.
double linear_mdp_episodes(const BoundSetting& setting, Index states, double epsilon);

/// Whose constants a radius by covering has.
enum class CoveringConstants {
    cited,  ///< Jin, Yang, Wang and Jordan (2020), Lemmas B.2, D.4 and D.6 as they stand
    sharp,  ///< ours: the same argument, each inequality as narrow as it easily gets
};

/// Whose values a radius by covering must hold for.
enum class CoveredValues {
    planning,  ///< Algorithm 4's: one bonus
    both,      ///< Algorithm 3's too, whose reward is a second bonus
};

/// For any number of states: with probability 1 - failure the regressions, on the data of a step, of all
/// values that the algorithms can compute with this very radius are within it of P V, at all K' <= K; rewards
/// linear in phi, |eta| <= sqrt(d). The least such radius, by a covering of these values whose fineness is
/// optimised [docs/bounds.md, Linear MDPs]. lambda = 1.
double linear_mdp_covering_radius(const BoundSetting& setting, double episodes, double failure,
                                  CoveringConstants constants, CoveredValues values = CoveredValues::both);

/// What Algorithms 3 and 4 with that radius, fixed for K episodes, guarantee for every linear reward in
/// [0,1], whatever the number of states. Vacuous where it is H or more.
double linear_mdp_covering_guarantee(const BoundSetting& setting, double episodes,
                                     CoveringConstants constants);

/// The least K whose guarantee is at most epsilon. With epsilon = H, the K below which it is vacuous.
double linear_mdp_covering_episodes(const BoundSetting& setting, double epsilon, CoveringConstants constants);

/// Where the radii that the two guarantees rest on meet.
struct LinearMdpMeeting {
    double radius = 0;  ///< by covering, in units of reward
    double states = 1;  ///< the largest S whose radius is at most that; a double, as it may exceed 2^63
};
LinearMdpMeeting linear_mdp_meeting(const BoundSetting& setting, double episodes,
                                    CoveringConstants constants);

// Rewards that add up to at most 1 in every episode, one set of weights for all steps: bounds without a power
// of H. No loss is above 1, so that a guarantee of 1 or more is vacuous.

/// What HF-UCRL-RFE++ of Zhang, Zhang and Gu (2023) guarantees after K episodes with the constants of its
/// proof: (4/K)(...) + (4/sqrt K)(...) [docs/bounds.md, A total of at most 1].
double horizon_free_guarantee(const BoundSetting& setting, double episodes);

/// The least K whose guarantee is at most epsilon in (0, 1]. With epsilon = 1, the K below which it is
/// vacuous.
double horizon_free_episodes(const BoundSetting& setting, double epsilon);

/// 2 B (d-1) / epsilon^2, B the allowance of the likelihood after as many episodes: what the certificate
/// `trajectory-kl` of a total of at most 1 takes to leading order, for base models whose experiments are
/// chosen best; H-1 times as much, with B of one step, unless steps are pooled. Not a bound.
double trajectory_rate(const BoundSetting& setting, double epsilon, bool pooled = true);

// Theorem 3 of the paper: what no algorithm can do. The paper's constant is unspecified; ours is from a
// direct argument on the same family of instances, in docs/bounds.md.

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
