#pragma once

#include <span>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/types.hpp"
#include "ridge_regression.hpp"

namespace alidade::detail {

/// What the regression of a linear MDP needs of its transitions: with it any V is regressed on anew, so that
/// nothing is kept of the history [paper, Alg. 3; theory §1.7].
struct LinearStatistics {
    RidgeStatistics rows;  ///< of the features; their targets are the columns of `arrivals`
    Matrix arrivals;       ///< sum of N(s,a,s') phi e_s'', d x S: times V it is the sum of phi V(s')
    double size = 0;       ///< sum of N(s,a) |phi|
    /// At least the sum, over the columns of `arrivals`, of the errors in norm that rounding has brought.
    double rounding = 0;
};

/// The statistics of every set, one for each learned step, or one for all of them if homogeneous. They are a
/// function of the counts alone, so that a resumed run has the same.
std::vector<LinearStatistics> linear_statistics(const PairFeatures& features, const Counts& counts,
                                                bool homogeneous);

}  // namespace alidade::detail
