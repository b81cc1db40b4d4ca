#pragma once

#include <cstdint>
#include <span>

#include "alidade/types.hpp"

/// Radii of confidence sets and the lemmas that they rest on, as formulas.
namespace alidade::detail {

// Radii of the regression route, as formulas.

/// Noise of a regression target V(s') with V in {0,1}: a variable of range 1 is 1/2-sub-Gaussian
/// (Hoeffding's lemma; the paper's H instead of H/2 is [theory §2, erratum 18]).
inline constexpr double value_noise = 0.5;

/// Regularisation of the ridge regression: 1/(4 R^2) with R the parameter set's radius for general
/// features, and 1/4 for base models, whatever their number [design decision 1].
double ridge_regularisation(double parameter_radius, bool base_models);

/// What is left of delta for one confidence set: all of it goes to the confidence event, split over the
/// H-1 learned steps; a pooled (homogeneous) problem has one set [theory §3b].
double failure_per_set(double delta, Index sets);

/// noise * sqrt(log(det L / det L_0) + 2 log(1/failure)): the self-normalised bound of Abbasi-Yadkori,
/// Pal and Szepesvari (2011, Thm 1), valid at all times at once. `log_det_ratio` is log(det L / det L_0).
double self_normalised_radius(double log_det_ratio, double failure, double noise = value_noise);

/// Bias of the prior centre before any data: sqrt(lambda) * R. With data it shrinks; see
/// ValueRegression for the data-dependent form [theory §3d].
double prior_bias(double regularisation, double parameter_radius);

/// What targets that are off by `misspecification` at most add to the radius:
/// |X' e| in the dual metric is at most |e| <= misspecification * sqrt(observations) [theory §1.1].
double misspecification_radius(double misspecification, std::int64_t observations);

/// bias + (1/2) sqrt(log_determinant + 2 ((S-1) log 2 + log(sets/delta))), and bias alone if S = 1: with
/// probability 1 - delta the regressions of all V in [0,1] on pair features are within this, in the metric L,
/// of their targets P V, in all sets and at all times at once [theory §1.7]. `log_determinant` is log(det L /
/// det lambda I), `successors` S >= 1 the number of states that can follow at the step, `bias` what shrinking
/// towards 0 costs, at most: sqrt(lambda) |mu V|, so sqrt(lambda d) in a linear MDP.
double linear_radius(double log_determinant, Index successors, Index sets, double delta, double bias);

/// kappa = 2 (e^u - 1 - u)/u^2: E e^{y eta} <= e^{kappa y^2 / 2} for every eta of mean 0 and variance at most
/// 1 with |y eta| <= u (Bennett). 1 for small u. u > 0.
double bennett_curvature(double exponent);

/// A ridge regression on rows x with noise of mean 0 and variance at most 1 given the past.
struct WeightedRegressionSize {
    Index dimension = 0;       ///< m of the rows
    double log_det_ratio = 0;  ///< log(det Z / det(lambda I)), Z = lambda I + sum of x x'
    /// At least the largest b |x| of all rows so far, |x| in the inverse of the present Z and b the most that
    /// the row's noise can be in modulus.
    double leverage = 0;
    double failure = 0.1;  ///< probability that the radius is too small at some time, in (0, 1)
};

/// |sum of x eta| in the inverse of Z, at most, at all times at once; infinite while the leverage is far too
/// large for anything to be said. Rows and the b are known before their noise [docs/algorithms/bernstein.md,
/// Theorem 1].
double weighted_radius(const WeightedRegressionSize& size);

/// Radius about the projection onto the parameter set: sqrt(beta^2 - r^2 + 2 eta), with r the distance
/// of the projection in the metric and eta >= 0 its measured optimality gap [theory §3a]. NaN when the
/// set is empty, which proves that the confidence event failed.
double projected_radius(double radius, double residual, double gap);

/// Outward slack on everything called a bound, for rounding: 1e-9 * H.
double rounding_slack(Index horizon);

// Radii of the likelihood route, as formulas.

/// r_KT = ln[Gamma(1/2) Gamma(t + d/2) / (Gamma(d/2) Gamma(t + 1/2))]: the most by which the best weights in
/// hindsight beat the Dirichlet(1/2) mixture over t observations, in log-likelihood; exactly the worst case
/// [likelihood §2]. t >= 0, d >= 1.
double mixture_regret(double observations, Index features);

/// The logarithm of the volume of the simplex of d weights in its tangent space: sqrt(d)/(d-1)!.
double log_simplex_volume(Index features);
/// The logarithm of the volume of the unit ball in R^n.
double log_ball_volume(Index dimension);

/// kappa(x) = (x - ln(1+x))/x^2, decreasing, 1/2 at 0, infinite at -1: x - ln(1+x) >= kappa(b) x^2 for x <=
/// b, and <= kappa(b) x^2 for x >= b. x >= -1.
double kappa(double x);

/// lambda(b) = -ln(1 - b^2)/b^2, increasing, 1 at 0: ln(1 - x^2) >= -lambda(b) x^2 for |x| <= b. 0 <= b < 1.
double symmetric_curvature(double b);

/// ln R: the radius of the ball that has the volume of the simplex of d >= 2 weights, in the metric whose
/// tangent form has this log-determinant.
double log_simplex_radius(Index features, double log_det_metric = 0);

/// r_C = r_U + ln(p/a) - (p-a) (ln R - ln(squared_reach)/2), p = d-1: regret of the law |theta -
/// theta0|^-(p-a) about a hypothesis theta0 of which squared_reach >= |theta0 - c|^2 + tr(A Sigma)
/// [docs/algorithms/likelihood.md, Theorem 1c]. 0 < a <= p; a = p is the uniform law, and returns r_U.
double centred_regret(double uniform_regret, Index features, double exponent, double log_radius,
                      double squared_reach);

/// -ln sum_m w_m exp(-r_m): the regret of mixtures taken together, with weights > 0 that were fixed
/// beforehand and add up to one at most. Regrets may be infinite.
double combined_regret(std::span<const double> weights, std::span<const double> regrets);

/// Allowance B = ln 2 + regret + ln(sets/delta) by which the true weights may fall short of any others in
/// log-likelihood, at all times and in all sets at once, with probability 1 - delta; `regret` is the lesser
/// of two mixtures' (ln 2 pays for choosing), or of three with ln 3 (`mixtures`).
double likelihood_allowance(double regret, Index mixtures, Index sets, double delta);

// The auxiliary lemmas of the paper, as formulas. Theorem 1 of Abbasi-Yadkori, Pal and Szepesvari is
// self_normalised_radius above.

/// A ridge regression on `rows` rows x in R^`dimension`, |x| <= `row_norm`, with penalty `regularisation`.
struct RegressionSize {
    Index dimension = 1;        ///< >= 1
    double rows = 0;            ///< n >= 0; a double, because bounds ask for more than 2^63
    double row_norm = 1;        ///< L > 0
    double regularisation = 1;  ///< lambda > 0
};

/// dimension * log(1 + n L^2 / (dimension lambda)): at least log(det(lambda I + sum x x') / det(lambda I)).
double log_det_bound(const RegressionSize& size);

/// Abbasi-Yadkori et al. (2011), Lemma 11: sum over rows of min{1, |x_t|^2 in the inverse of the precision
/// before x_t} is at most twice log_det_bound.
double potential_bound(const RegressionSize& size);

/// Abbasi-Yadkori et al. (2011), Theorem 2: noise * sqrt(dimension log((1 + n L^2/lambda)/failure)) +
/// sqrt(lambda) * norm_bound, valid for all n at once; `noise` is the sub-Gaussian constant.
double ridge_radius(const RegressionSize& size, double noise, double norm_bound, double failure);

/// Zhou, Gu and Szepesvari (2021), Theorem 4.1, without its bias sqrt(lambda) |mu|:
/// 8 deviation sqrt(d log(1 + n L^2/(d lambda)) log(4 n^2/failure)) + 4 magnitude log(4 n^2/failure), for
/// noise with variance at most deviation^2 and modulus at most `magnitude`. n >= 1.
double bernstein_radius(const RegressionSize& size, double deviation, double magnitude, double failure);

/// Azuma and Hoeffding: a sum of `steps` martingale differences, each in an interval of length `range`
/// that is known before it, exceeds range * sqrt(steps log(1/failure) / 2) with probability at most
/// `failure`. Differences of modulus at most c have range 2c.
double azuma_deviation(double steps, double range, double failure);

/// Policies computed by a run that computes a new one when the determinant of one of `sets` precisions has
/// grown by a factor 1 + growth: at most sets * log_det_bound / log(1 + growth) + 1, the first included
/// [theory §3e]. growth > 0.
double switch_bound(const RegressionSize& size, Index sets, double growth);

}  // namespace alidade::detail
