#include "alidade/confidence/regression_sets.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/regression.hpp"

namespace alidade {

double centre_bias(const ParameterSet& parameters, const TangentSpace& coordinates,
                   const RidgeEstimate& estimate, double regularisation) {
    const double prior = prior_bias(regularisation, parameters.radius());
    if (parameters.kind() != ParameterSetKind::simplex || estimate.factor.rows() == 0) return prior;
    Matrix vertices = coordinates.basis.transpose();
    vertices.colwise() -= coordinates.basis.transpose().lazyProduct(parameters.space().centre).eval();
    const Matrix whitened = estimate.inverse_factor.lazyProduct(vertices);
    return std::min(
        prior, regularisation * whitened.colwise().norm().maxCoeff() * std::sqrt(1 + estimate.metric_error));
}

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
            centre_bias(parameters, parameters.space(), estimate, regularisation) +
            misspecification_radius(misspecification, step.observations) + estimate.shift;
        sets.emplace_back(parameters, estimate, radius * std::sqrt(1 + estimate.metric_error));
    }
    return sets;
}

}  // namespace alidade
