#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The confidence sets of value-targeted regression, one for each element of `statistics`: with
/// probability 1 - delta all of them contain their true weights, at all times at once. The radius is the
/// log-determinant one with noise 1/2 plus the bias of the centre, which shrinks as data come in
/// [theory §3b-d]. Targets that are off by `misspecification` at most, whatever the weights, move the
/// estimate by misspecification * sqrt(observations) at most, which is added [theory §1.1]. Throws
/// ModelContradiction if one is empty.
std::vector<ConfidenceSet> regression_sets(const ParameterSet& parameters,
                                           std::span<const RidgeStatistics> statistics, double delta,
                                           double misspecification = 0);

/// |lambda (theta - theta_0)| in the dual metric, at most, for an estimate in those coordinates: convex in
/// theta, so a vertex of the simplex attains it; and never more than before any data [theory §3d].
double centre_bias(const ParameterSet& parameters, const TangentSpace& coordinates,
                   const RidgeEstimate& estimate, double regularisation);

/// The regularisation that goes with a parameter set.
double ridge_regularisation(const ParameterSet& parameters);

}  // namespace alidade
