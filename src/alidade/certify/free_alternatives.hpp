#pragma once

#include <optional>
#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/model/counts.hpp"
#include "fit_rows.hpp"

namespace alidade::detail {

// Alternatives that do not depend on the weights [docs/algorithms/model-check.md, Theorem 1]: their
// probability of what was seen over the largest likelihood of any weights. Rounding and what the fit leaves
// to be desired are taken off, so that none is above the ratio to the true weights'.

/// ln of Krichevsky and Trofimov's predictor, (n_j + 1/2)/(n + m/2) at each pair, over the likelihood of the
/// fit.
double log_kt_evidence(const FitRows& rows, std::span<const double> predicted, const LikelihoodFit& fit);

/// ln of a mixture over weights of its own for each part of the data, over the likelihood of the fit: the
/// parts' largest log-likelihoods, less the regret of a Dirichlet(1/2) mixture each.
double log_parts_evidence(const FeatureMap& map, const std::vector<std::vector<SeenEntry>>& parts,
                          const LikelihoodRows& all, const LikelihoodFit& fit);

/// What was seen, action by action.
std::vector<std::vector<SeenEntry>> by_action(const SuccessorMap& map, std::span<const SeenEntry> seen);
/// What was seen, step by step.
std::vector<std::vector<SeenEntry>> by_step(const Counts& counts);

}  // namespace alidade::detail
