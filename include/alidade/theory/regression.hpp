#pragma once

#include <cstdint>

#include "alidade/types.hpp"

/// Radii of the regression route, as formulas.
namespace alidade {

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

/// Radius about the projection onto the parameter set: sqrt(beta^2 - r^2 + 2 eta), with r the distance
/// of the projection in the metric and eta >= 0 its measured optimality gap [theory §3a]. NaN when the
/// set is empty, which proves that the confidence event failed.
double projected_radius(double radius, double residual, double gap);

/// Outward slack on everything called a bound, for rounding: 1e-9 * H.
double rounding_slack(Index horizon);

}  // namespace alidade
