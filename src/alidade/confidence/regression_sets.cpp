#include "alidade/confidence/regression_sets.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/regression.hpp"

namespace alidade {

namespace {

/// |lambda (theta - theta_0)| in the dual metric, at most: convex in theta, so a vertex of the simplex
/// attains it; and never more than before any data [theory §3d].
double bias(const ParameterSet& parameters, const RidgeEstimate& estimate, double regularisation) {
    const double prior = prior_bias(regularisation, parameters.radius());
    if (parameters.kind() != ParameterSetKind::simplex || estimate.factor.rows() == 0) return prior;
    const Matrix vertices = estimate.inverse_factor.lazyProduct(parameters.space().basis.transpose());
    return std::min(
        prior, regularisation * vertices.colwise().norm().maxCoeff() * std::sqrt(1 + estimate.metric_error));
}

}  // namespace

double ridge_regularisation(const ParameterSet& parameters) {
    return ridge_regularisation(parameters.radius(), parameters.kind() == ParameterSetKind::simplex);
}

std::vector<ConfidenceSet> regression_sets(const ParameterSet& parameters,
                                           std::span<const RidgeStatistics> statistics, double delta,
                                           double misspecification) {
    std::vector<ConfidenceSet> sets;
    if (statistics.empty()) return sets;
    const double failure = failure_per_set(delta, static_cast<Index>(statistics.size()));
    const double regularisation = ridge_regularisation(parameters);
    sets.reserve(statistics.size());
    for (const RidgeStatistics& step : statistics) {
        const RidgeEstimate estimate = solve_ridge(step, regularisation);
        // The exact radius bounds the exact estimate's error in the exact metric; widened by what rounding
        // may have done, it holds for the numbers at hand.
        const double radius =
            self_normalised_radius(estimate.log_det_ratio + estimate.log_det_error, failure) +
            bias(parameters, estimate, regularisation) +
            misspecification_radius(misspecification, step.observations) + estimate.shift;
        sets.emplace_back(parameters, estimate, radius * std::sqrt(1 + estimate.metric_error));
    }
    return sets;
}

}  // namespace alidade
