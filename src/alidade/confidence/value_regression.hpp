#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../estimate/ridge_regression.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/types.hpp"
#include "sharpenings.hpp"

namespace alidade::detail {

/// Whose constants the regression has.
struct RegressionConstants {
    bool paper = false;         ///< those of the printed Algorithm 1, errata mended
    Sharpenings sharpenings;    ///< of ours; the paper's have none
    std::int64_t episodes = 0;  ///< of the paper's: K >= 1, which its radius is told beforehand; a run that
                                ///< goes on has the radius of the episodes there are

    bool operator==(const RegressionConstants&) const = default;
};

/// One step's regression solved.
struct RegressionSet {
    ConfidenceSet set;      ///< within the parameters; its estimate is in the hull
    Matrix inverse_factor;  ///< of the regression's metric, in the regression's coordinates
    Vector estimate;        ///< theta hat in the regression's coordinates
    Vector weights;         ///< theta~, what is handed over, in the regression's coordinates
    double radius = 0;      ///< about the estimate, in the regression's metric
    double refined = 0;     ///< about theta~, in the regression's metric
};

/// The value-targeted regression of Algorithm 1: in which coordinates features are taken, how it is
/// regularised, and how large its sets must be to hold the true weights, at all times at once and in all
/// steps, with probability 1 - delta. Targets are V(s') with V in {0,1}; the range of values multiplies
/// bonuses, not features [theory §3c].
class ValueRegression {
public:
    struct Setting {
        SharedFeatures features;
        Index horizon = 1;
        bool homogeneous = false;
        double misspecification = 0;  ///< zeta in [0, 1)
        double delta = 0.1;           ///< in (0, 1)
    };

    ValueRegression(Setting setting, RegressionConstants constants);

    const Setting& setting() const noexcept { return setting_; }
    const ParameterSet& parameters() const noexcept { return parameters_; }
    const RegressionConstants& constants() const noexcept { return constants_; }
    /// The features in the regression's coordinates: those of the hull, or of R^d.
    const TangentFeatures& features() const noexcept { return features_; }
    double delta() const noexcept { return setting_.delta; }
    Index dimension() const noexcept { return features_.space.dimension(); }
    double regularisation() const noexcept { return regularisation_; }
    /// Confidence sets: H-1, or one if homogeneous.
    Index sets() const noexcept { return sets_; }

    /// What values at the next step range over: H-1-h, or H.
    double range(Step h) const noexcept;
    /// Radius about the estimate in its own metric, before rounding is allowed for.
    double radius(const RidgeEstimate& estimate, std::int64_t observations) const;
    /// Throws ModelContradiction if a set misses the parameters.
    std::vector<RegressionSet> solve(std::span<const RidgeStatistics> statistics) const;

private:
    RegressionSet solve(const RidgeStatistics& statistics) const;
    RegressionSet slice(const RidgeStatistics& statistics, const RidgeEstimate& estimate,
                        double radius) const;
    double bias(const RidgeEstimate& estimate) const;
    double log_det_limit(double rows) const;
    double printed_radius(std::int64_t observations) const;

    Setting setting_;
    RegressionConstants constants_;
    ParameterSet parameters_;
    TangentFeatures features_;
    Index sets_;
    double regularisation_;
    double largest_feature_;  // L: no |psi_V| is larger
};

/// The sets of the sharp constants alone, one for each element of `statistics`, which are of one step each.
/// Transition laws may be `misspecification` off their mixtures in total variation.
std::vector<ConfidenceSet> regression_sets(const SharedFeatures& features,
                                           std::span<const RidgeStatistics> statistics, double delta,
                                           double misspecification = 0);

/// |lambda (theta - theta_0)| in the dual metric, at most, for an estimate in those coordinates: convex in
/// theta, so a vertex of the simplex attains it; and never more than before any data [theory §3d].
double centre_bias(const ParameterSet& parameters, const TangentSpace& coordinates,
                   const RidgeEstimate& estimate, double regularisation);

/// No |psi_V| with V in [0,1] is larger: the sum of the successors' norms, or half of it where they sum to
/// zero.
double largest_feature(const FeatureMap& features, const TangentFeatures& tangent);

/// A regression in R^d and what it was solved from.
struct SolvedRegression {
    const Vector& centre;  ///< the prior guess: coordinates are counted from it
    double regularisation;
    const RidgeStatistics& statistics;
    const RidgeEstimate& estimate;
};

/// The ball in R^d cut with the affine hull theta_0 + N zeta is a ball in the metric N' Lambda N about the
/// regression's solution there; its own radius would be smaller by what the cut is off the centre, which is
/// not taken. The projection onto the parameters is that of R^d, for they lie in the hull. Throws
/// ModelContradiction if the ball misses the parameters.
ConfidenceSet hull_slice(const ParameterSet& parameters, const SolvedRegression& solved, double radius,
                         RefinedRadius refined);

/// The regularisation that goes with a parameter set.
double ridge_regularisation(const ParameterSet& parameters);

}  // namespace alidade::detail
