#pragma once

#include <optional>
#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "fit_rows.hpp"

namespace alidade::detail {

/// The data of one confidence set (a step, or all of them) and the best weights for them.
struct CheckedSet {
    std::optional<Step> step;     ///< none where the steps are pooled
    std::vector<SeenEntry> seen;  ///< of a step, or pooled
    LikelihoodRows likelihood;
    LikelihoodFit fit;
    FitRows rows;                    ///< a row a pair
    std::optional<FitRows> by_step;  ///< where steps are pooled: a row a pair and step
    std::vector<double> predicted;   ///< of each item of `rows`, by the fit
    std::vector<double> predicted_by_step;
    double regret = 0;  ///< of a predictor of mixtures that does not know their weights, in nats

    const FitRows& view(bool apart) const { return apart ? *by_step : rows; }
    const std::vector<double>& predictions(bool apart) const { return apart ? predicted_by_step : predicted; }
};

/// One for each learned step, or one of all. Throws InvalidArgument unless the counts are over the features'
/// successors and those are of base models.
std::vector<CheckedSet> checked_sets(const FeatureMap& features, const Counts& counts, bool homogeneous);

}  // namespace alidade::detail
