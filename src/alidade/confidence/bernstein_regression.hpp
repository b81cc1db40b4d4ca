#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "../estimate/ridge_regression.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/theory/bounds.hpp"
#include "value_regression.hpp"

namespace alidade::detail {

/// What the five regressions of Algorithm 2 are on [theory §1.5].
enum class FiveTargets : std::uint8_t {
    values,              ///< V^, weighted by its variance
    optimistic,          ///< V, weighted by its variance
    values_squared,      ///< V^ squared
    optimistic_squared,  ///< V squared
    variance_to_go,      ///< Y~: the variance of what is still to come, in the model
};
inline constexpr std::size_t five = 5;

/// What was seen of one set's transitions. Targets are divided by their ranges, so that they are in [0,1].
struct FiveStatistics {
    std::array<RidgeStatistics, five> rows;            ///< the first two divided by sigma
    std::array<double, 2> inverse_variances = {0, 0};  ///< sums of 1/sigma^2 over the rows of the first two

    explicit FiveStatistics(Index dimension = 0);

    RidgeStatistics& of(FiveTargets target) { return rows[static_cast<std::size_t>(target)]; }
    const RidgeStatistics& of(FiveTargets target) const { return rows[static_cast<std::size_t>(target)]; }
};

/// One set's regressions solved, in R^d about 0.
struct FiveSolved {
    std::array<RidgeEstimate, five> estimates;
    std::array<double, five> radii;  ///< about them, rounding and misspecification included
    /// The same of the first two with beta-check: before their weights are known to be valid.
    std::array<double, 2> coarse;

    const RidgeEstimate& of(FiveTargets target) const { return estimates[static_cast<std::size_t>(target)]; }
    double radius(FiveTargets target) const { return radii[static_cast<std::size_t>(target)]; }
};

/// The five regressions of the paper's Algorithm 2 in R^d, with the printed radii or those that its proof
/// needs [theory §1.5]. Departures, each a repair or no worse: targets are divided by their ranges, where
/// the paper has H at every step; base models are taken as they are, with lambda = 1 (erratum 20); the
/// printed radii are never less than the safe ones, which their proof is for (errata 7 to 9); Lambda_2 adds
/// to itself and theta_5 has targets of its own episodes (errata 1 and 2).
class BernsteinRegression {
public:
    /// `episodes`: K >= 1, which radii are told beforehand; a run that goes on has those of the episodes
    /// there are.
    BernsteinRegression(ValueRegression::Setting setting, BernsteinRadii kind, std::int64_t episodes);

    const ValueRegression::Setting& setting() const noexcept { return setting_; }
    const ParameterSet& parameters() const noexcept { return parameters_; }
    /// The features in R^d.
    const TangentFeatures& features() const noexcept { return features_; }
    Index dimension() const noexcept { return features_.space.dimension(); }
    Index sets() const noexcept { return sets_; }
    double regularisation() const noexcept { return regularisation_; }
    BernsteinRadii kind() const noexcept { return kind_; }

    /// beta-hat, beta-check and beta-tilde for targets in [0,1] and so many rows.
    BernsteinRadius radii(std::int64_t rows) const;
    FiveSolved solve(const FiveStatistics& statistics) const;
    /// The confidence sets of the five, in the hull. Throws ModelContradiction if one misses the parameters.
    std::vector<ConfidenceSet> balls(const FiveStatistics& statistics, const FiveSolved& solved) const;
    /// What they have in common; the model is the projection of the first. Throws ModelContradiction if that
    /// is nothing.
    ConfidenceSet common(std::span<const ConfidenceSet> balls) const;

private:
    ValueRegression::Setting setting_;
    BernsteinRadii kind_;
    std::int64_t episodes_;
    ParameterSet parameters_;
    TangentFeatures features_;
    Index sets_;
    double regularisation_, norm_bound_;
};

}  // namespace alidade::detail
