#pragma once

#include <optional>
#include <span>
#include <vector>

#include "alidade/certify/model_fit.hpp"
#include "checked_set.hpp"

namespace alidade::detail {

/// A row as a user reads of it: what was seen most above what the weights predict.
Misfit misfit_of(const FeatureMap& features, const FitRows& rows, const FitRow& row,
                 std::span<const double> predicted, double log_evidence);

/// The row that speaks most against the mixture at the fitted weights: a pointer, not a test.
std::optional<Misfit> worst_row(const FeatureMap& features, const std::vector<CheckedSet>& sets);

}  // namespace alidade::detail
