#include "bernstein_regression.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../theory/radii.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

bool of_base_models(const ParameterSet& parameters) {
    return parameters.kind() == ParameterSetKind::simplex;
}

/// B where |phi_V| <= 1 for V in [0,1]: features that are longer are divided by their length, which
/// multiplies the weights by it.
double scaled_norm_bound(const ParameterSet& parameters, const FeatureMap& features,
                         const TangentFeatures& tangent) {
    if (of_base_models(parameters)) return base_model_norm_bound(parameters.features());
    return features.norm_bound() * std::max(1.0, largest_feature(features, tangent));
}

}  // namespace

FiveStatistics::FiveStatistics(Index dimension) {
    rows.fill(RidgeStatistics(dimension));
}

BernsteinRegression::BernsteinRegression(ValueRegression::Setting setting, BernsteinRadii kind,
                                         std::int64_t episodes)
    : setting_(std::move(setting)),
      kind_(kind),
      episodes_(episodes),
      parameters_(ParameterSet::of(*setting_.features)),
      features_(*setting_.features, {Vector::Zero(parameters_.features()),
                                     Matrix::Identity(parameters_.features(), parameters_.features())}),
      sets_(confidence_sets(setting_.horizon, setting_.homogeneous)),
      // lambda = B^-2 [paper, Alg. 2 line 2], also where longer features make the B of the radii larger: both
      // are divided.
      regularisation_(of_base_models(parameters_) ? 1 : std::pow(setting_.features->norm_bound(), -2)),
      norm_bound_(scaled_norm_bound(parameters_, *setting_.features, features_)) {
    expects(episodes >= 1,
            "Algorithm 2 is for a number of episodes known beforehand; it is {} and must be at least 1",
            episodes);
}

BernsteinRadius BernsteinRegression::radii(std::int64_t rows) const {
    const auto horizon = static_cast<double>(setting_.horizon);
    // A pooled regression has H-1 rows an episode, and K in the logarithms counts rows.
    const double planned = (setting_.homogeneous ? horizon - 1 : 1) * static_cast<double>(episodes_);
    const double told = std::max({1.0, planned, static_cast<double>(rows)});
    const BoundSetting bound{parameters_.features(), setting_.horizon, norm_bound_, setting_.delta};
    BernsteinRadius radius = bernstein_radii(bound, told, BernsteinRadii::safe);
    if (kind_ == BernsteinRadii::printed) {
        // Where they are smaller nothing is proved for them (errata 8 and 9).
        const BernsteinRadius printed = bernstein_radii(bound, told, BernsteinRadii::printed);
        radius = {std::max(radius.weighted, printed.weighted), std::max(radius.coarse, printed.coarse),
                  std::max(radius.squares, printed.squares)};
    }
    // Of squares in [0,1] instead of [0,H^2]: noise and rows are divided by H^2, the bias is not.
    radius.squares = (radius.squares - 1) / (horizon * horizon) + 1;
    return radius;
}

FiveSolved BernsteinRegression::solve(const FiveStatistics& statistics) const {
    const BernsteinRadius radius = radii(statistics.of(FiveTargets::values).observations);
    FiveSolved result{};
    for (std::size_t i = 0; i < five; ++i) {
        const RidgeStatistics& rows = statistics.rows[i];
        result.estimates[i] = solve_ridge(rows, regularisation_);
        const RidgeEstimate& estimate = result.estimates[i];
        // Targets that are off by the misspecification move |sum of x e| by no more [theory §1.1].
        const double weights =
            i < 2 ? statistics.inverse_variances[i] : static_cast<double>(rows.observations);
        const double off = setting_.misspecification * std::sqrt(weights) * (1 + 1e-9);
        const auto widened = [&](double beta) {
            return (beta + off + estimate.shift) * std::sqrt(1 + estimate.metric_error);
        };
        result.radii[i] = widened(i < 2 ? radius.weighted : radius.squares);
        if (i < 2) result.coarse[i] = widened(radius.coarse);
    }
    return result;
}

std::vector<ConfidenceSet> BernsteinRegression::balls(const FiveStatistics& statistics,
                                                      const FiveSolved& solved) const {
    std::vector<ConfidenceSet> result;
    for (std::size_t i = 0; i < five; ++i)
        result.push_back(hull_slice(
            parameters_, {features_.space.centre, regularisation_, statistics.rows[i], solved.estimates[i]},
            solved.radii[i], RefinedRadius::by_projection));
    return result;
}

ConfidenceSet BernsteinRegression::common(std::span<const ConfidenceSet> balls) const {
    ConfidenceSet result = balls.front();
    for (const ConfidenceSet& ball : balls.subspan(1)) result = result.also_within(ball);
    return result;
}

}  // namespace alidade::detail
