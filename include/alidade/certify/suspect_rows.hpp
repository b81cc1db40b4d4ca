#pragma once

#include <span>
#include <vector>

#include "alidade/certify/model_fit.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

/// Pairs whose transitions no weights explain that are possible if no law is farther than `misspecification`
/// off its mixture.
struct SuspectRows {
    double misspecification = 0;  ///< zeta in (0, 1): how far off any law may be, for the list to hold
    bool refuted = false;         ///< the data prove that some law is farther off; then nothing is listed
    std::vector<Misfit> rows;     ///< the worst first; `log_evidence` is the least over all possible weights
};

/// Lists of rows that are off their mixture, for each of some zetas. Where no law is farther than zeta off
/// the mixture with weights theta, at most a share of `share` of the rows that are listed for it follow that
/// mixture, in expectation, whatever the dependence between rows and whenever one looks. That holds for all
/// lists at once whose zeta is true: what is listed for a larger zeta is listed for less, so a row may be
/// quoted with the largest zeta for which it is listed [docs/algorithms/model-check.md, Lemma 3].
///
/// There is no list for zeta = 0: it would say that rows are off of which it assumes that none is. Weights
/// are then drawn to where wrong rows want them, and right rows look wrong.
///
/// Of `task` the base models and whether steps are pooled count, and its reach: where the truth stays in the
/// support, a transition that left it refutes every zeta. Transitions to where no base model leads are left
/// out otherwise. Throws InvalidArgument unless 0 < zeta < 1 for all zetas, 0 < share < 1, and the counts are
/// over the task's successors, which must be of base models.
std::vector<SuspectRows> suspect_rows(const Task& task, const Counts& counts, std::span<const double> zetas,
                                      double share = 0.05);

/// The list for the misspecification that the task assumes, which must not be 0.
SuspectRows suspect_rows(const Task& task, const Counts& counts, double share = 0.05);

}  // namespace alidade
