#pragma once

#include "alidade/types.hpp"

/// Radii of the likelihood route, as formulas.
namespace alidade {

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

/// Allowance B = ln 2 + regret + ln(sets/delta) by which the true weights may fall short of any others in
/// log-likelihood, at all times and in all sets at once, with probability 1 - delta; `regret` is the lesser
/// of two mixtures' (ln 2 pays for choosing), or of three with ln 3 (`mixtures`).
double likelihood_allowance(double regret, Index mixtures, Index sets, double delta);

}  // namespace alidade
