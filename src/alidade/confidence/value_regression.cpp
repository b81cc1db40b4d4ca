#include "value_regression.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../theory/radii.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/error.hpp"
#include "alidade/theory/bounds.hpp"

namespace alidade::detail {

namespace {

/// The coordinates of the regression. The paper's has no centre: its prior guess is theta = 0.
TangentSpace space_of(const ParameterSet& parameters, const RegressionConstants& constants) {
    if (!constants.paper && constants.sharpenings.hull) return parameters.space();
    const Index d = parameters.features();
    return {constants.paper ? Vector::Zero(d) : parameters.space().centre, Matrix::Identity(d, d)};
}

bool base_models(const ParameterSet& parameters) {
    return parameters.kind() == ParameterSetKind::simplex;
}

/// 1/4 of ours; the paper's lambda = B^-2 about features of norm 1 and values in [0, H] is 1/(H B)^2 about
/// values in [0, 1], and base models divided by sqrt(d), with B = sqrt(d), are base models as they are with
/// B = 1 [theory §2, erratum 20; T27].
double regularisation_of(const ParameterSet& parameters, const FeatureMap& features, Index horizon,
                         bool paper) {
    if (!paper) return ridge_regularisation(parameters);
    const double norm = base_models(parameters) ? 1.0 : features.norm_bound();
    return 1 / std::pow(static_cast<double>(horizon) * norm, 2);
}

}  // namespace

double largest_feature(const FeatureMap& features, const TangentFeatures& tangent) {
    Vector psi(tangent.space.dimension());
    double largest = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        double sum = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            tangent.psi(e, psi.data());
            sum += psi.norm();
        }
        largest = std::max(largest, tangent.centred() ? sum / 2 : sum);
    }
    return largest;
}

double centre_bias(const ParameterSet& parameters, const TangentSpace& coordinates,
                   const RidgeEstimate& estimate, double regularisation) {
    const double prior = prior_bias(regularisation, parameters.radius());
    if (!base_models(parameters) || estimate.factor.rows() == 0) return prior;
    Matrix vertices = coordinates.basis.transpose();
    vertices.colwise() -= coordinates.basis.transpose().lazyProduct(parameters.space().centre).eval();
    const Matrix whitened = estimate.inverse_factor.lazyProduct(vertices);
    return std::min(
        prior, regularisation * whitened.colwise().norm().maxCoeff() * std::sqrt(1 + estimate.metric_error));
}

double ridge_regularisation(const ParameterSet& parameters) {
    return ridge_regularisation(parameters.radius(), base_models(parameters));
}

std::vector<ConfidenceSet> regression_sets(const SharedFeatures& features,
                                           std::span<const RidgeStatistics> statistics, double delta,
                                           double misspecification) {
    const auto steps = static_cast<Index>(statistics.size());
    const ValueRegression regression(
        {.features = features, .horizon = steps + 1, .misspecification = misspecification, .delta = delta},
        {});
    std::vector<ConfidenceSet> sets;
    for (RegressionSet& solved : regression.solve(statistics)) sets.push_back(std::move(solved.set));
    return sets;
}

ValueRegression::ValueRegression(Setting setting, RegressionConstants constants)
    : setting_(std::move(setting)),
      constants_(constants),
      parameters_(ParameterSet::of(*setting_.features)),
      features_(*setting_.features, space_of(parameters_, constants_)),
      sets_(confidence_sets(setting_.horizon, setting_.homogeneous)),
      regularisation_(regularisation_of(parameters_, *setting_.features, setting_.horizon, constants_.paper)),
      largest_feature_(largest_feature(*setting_.features, features_)) {
    expects(setting_.delta > 0 && setting_.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            setting_.delta);
    expects(setting_.misspecification >= 0 && setting_.misspecification < 1,
            "misspecification is {}; must be at least 0 and less than 1", setting_.misspecification);
    expects(!constants_.paper || constants_.episodes >= 1,
            "the paper's constants are for a number of episodes known beforehand; it is {} and must be at "
            "least 1",
            constants_.episodes);
}

double ValueRegression::range(Step h) const noexcept {
    const bool short_ranges = !constants_.paper && constants_.sharpenings.ranges;
    return static_cast<double>(short_ranges ? setting_.horizon - 1 - h : setting_.horizon);
}

double ValueRegression::bias(const RidgeEstimate& estimate) const {
    if (constants_.sharpenings.bias)
        return centre_bias(parameters_, features_.space, estimate, regularisation_);
    return prior_bias(regularisation_, base_models(parameters_) ? 1.0 : setting_.features->norm_bound());
}

double ValueRegression::log_det_limit(double rows) const {
    // One base model, or base models that agree: there is nothing to learn.
    if (dimension() == 0 || largest_feature_ == 0) return 0;
    return log_det_bound({dimension(), rows, largest_feature_, regularisation_});
}

// The printed beta is about values in [0, H] [paper, Alg. 1 line 2]. A pooled regression has H-1 rows an
// episode, and K in the logarithm counts rows; should there be more than were planned, they count. Features
// are to have |phi_V| <= 1: beta, with twice the noise there is, is enough for far longer ones, but not for
// any (errata 18 and 20), so never less than what theirs need.
double ValueRegression::printed_radius(std::int64_t observations) const {
    const double norm = base_models(parameters_) ? base_model_norm_bound(parameters_.features())
                                                 : setting_.features->norm_bound();
    const auto horizon = static_cast<double>(setting_.horizon);
    const double planned =
        (setting_.homogeneous ? horizon - 1 : 1) * static_cast<double>(constants_.episodes);
    const double rows = std::max(planned, static_cast<double>(observations));
    const BoundSetting printed{parameters_.features(), setting_.horizon, norm, setting_.delta};
    const double needed =
        self_normalised_radius(log_det_limit(rows), setting_.delta / (2 * horizon)) + 1 / horizon;
    return std::max(hoeffding_radius(printed, rows) / horizon, needed);
}

double ValueRegression::radius(const RidgeEstimate& estimate, std::int64_t observations) const {
    const double off = misspecification_radius(setting_.misspecification, observations);
    if (constants_.paper) return printed_radius(observations) + off;
    // The paper's other half is for an Azuma bound, which says when one stops, not whether the sets are valid
    // [theory §3b].
    const double share = constants_.sharpenings.delta ? setting_.delta : setting_.delta / 2;
    const double failure = failure_per_set(share, sets_);
    // The determinant itself holds at all times, and needs no number of rows told beforehand.
    const double log_det = constants_.sharpenings.log_det ? estimate.log_det_ratio + estimate.log_det_error
                                                          : log_det_limit(static_cast<double>(observations));
    // Lambda (zeta^ - zeta) is a sum of three: noise times rows, minus lambda zeta, and the misspecification
    // times rows; each is bounded in the dual metric [docs/algorithms/hoeffding.md, Theorem 1].
    return self_normalised_radius(log_det, failure) + bias(estimate) + off;
}

std::vector<RegressionSet> ValueRegression::solve(std::span<const RidgeStatistics> statistics) const {
    std::vector<RegressionSet> result;
    result.reserve(statistics.size());
    for (const RidgeStatistics& step : statistics) result.push_back(solve(step));
    return result;
}

RegressionSet ValueRegression::solve(const RidgeStatistics& statistics) const {
    const RidgeEstimate estimate = solve_ridge(statistics, regularisation_);
    // The exact radius bounds the exact estimate's error in the exact metric; widened by what rounding may
    // have done, it holds for the numbers at hand.
    const double widened =
        (radius(estimate, statistics.observations) + estimate.shift) * std::sqrt(1 + estimate.metric_error);
    if (!features_.centred()) return slice(statistics, estimate, widened);
    const RefinedRadius refined =
        constants_.sharpenings.projection ? RefinedRadius::by_projection : RefinedRadius::doubled;
    ConfidenceSet set(parameters_, estimate, widened, refined);
    const double about = set.refined_radius();
    Vector weights = set.projection().coordinates;
    return {std::move(set), estimate.inverse_factor, estimate.coordinates, std::move(weights), widened,
            about};
}

RegressionSet ValueRegression::slice(const RidgeStatistics& statistics, const RidgeEstimate& estimate,
                                     double radius) const {
    const bool projected = !constants_.paper && constants_.sharpenings.projection;
    ConfidenceSet set =
        hull_slice(parameters_, {features_.space.centre, regularisation_, statistics, estimate}, radius,
                   projected ? RefinedRadius::by_projection : RefinedRadius::doubled);
    const double about = set.refined_radius();
    Vector weights = set.weights() - features_.space.centre;
    return {std::move(set), estimate.inverse_factor, estimate.coordinates, std::move(weights), radius, about};
}

ConfidenceSet hull_slice(const ParameterSet& parameters, const SolvedRegression& solved, double radius,
                         RefinedRadius refined) {
    const TangentSpace& hull = parameters.space();
    const RidgeStatistics& statistics = solved.statistics;
    const Vector offset = hull.centre - solved.centre;
    const Matrix gram = statistics.gram.selfadjointView<Eigen::Lower>();
    RidgeStatistics inside(hull.dimension());
    inside.gram = hull.basis.transpose() * gram * hull.basis;
    inside.moment =
        hull.basis.transpose() * (statistics.moment - gram * offset - solved.regularisation * offset);
    inside.observations = statistics.observations;
    const double entries = static_cast<double>(8 * hull.basis.size()) * 1e-16;
    inside.rounding = (1 + offset.norm()) * (statistics.rounding + entries * gram.trace()) +
                      entries * statistics.moment.norm();
    const RidgeEstimate sliced = solve_ridge(inside, solved.regularisation);
    // Once more by each metric's error, since widths are taken in that of R^d.
    const double widened =
        (radius + sliced.shift) * (1 + sliced.metric_error) * std::sqrt(1 + solved.estimate.metric_error);
    return ConfidenceSet(parameters, sliced, widened, refined);
}

}  // namespace alidade::detail
