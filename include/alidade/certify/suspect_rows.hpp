#pragma once

#include <vector>

#include "alidade/certify/model_fit.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/counts.hpp"

namespace alidade {

/// Pairs whose transitions no weights of the learned sets explain, the worst first. Of those listed a share
/// of `share` plus the sets' delta at most are right, in expectation and whatever the dependence between
/// rows, if the sets contain the weights that the other rows follow: so they should be learned with a
/// misspecification that allows for the rows that do not [docs/algorithms/model-check.md, Lemma 3].
/// `log_evidence` of each is the least over the set, certified. Throws InvalidArgument unless 0 < share < 1
/// and the counts are over the model's successors, which must be of base models.
std::vector<Misfit> suspect_rows(const Counts& counts, const LearnedMixture& learned, double share = 0.05);

}  // namespace alidade
