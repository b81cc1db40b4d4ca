#pragma once

#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// What a joint problem has at one learned step, or at all of them if the task is homogeneous.
struct JointPart {
    /// Inverse of the lower Cholesky factor of Lambda_1: |first x| is the norm in the bonus u_1.
    Matrix first;
    double first_radius = 0;  ///< beta-hat
    /// The same for the bonus u_2, the least of whose norms counts. None: the robust backup.
    std::vector<Matrix> second;
    double second_radius = 0;  ///< 2 beta-hat
    ConfidenceSet set;         ///< U: what weights may be
};

/// What the paper's Algorithm 2 maximises over policies, rewards in [0,1] and weights theta~ of the sets
/// [paper, Alg. 2 line 8]: the mean over the start of V_0, where at a = pi_h(s)
///   V^_h(s) = R_h(s,a) + P~_h V^_{h+1},    V_h(s) = min{clip_h, u_1 + backup of V_{h+1}},
///   u_1 = beta-hat |phi of V^_{h+1}|,
/// and the backup is P~_h V + 2 beta-hat |phi of V|, as printed but for the two (erratum 3), in the smaller
/// of several norms [docs/algorithms/bernstein.md, The printed algorithm]; or the largest expectation of V
/// over the set, which is monotone in V and in the set [docs/algorithms/bernstein.md, The inner problem]. At
/// the last step V^ is the reward and V is 0: nothing comes after it.
struct JointProblem {
    Task task;
    /// The features in whose coordinates norms are taken; must outlive the problem.
    const TangentFeatures* coordinates = nullptr;
    std::vector<JointPart> parts;  ///< H-1, or one if homogeneous
    std::vector<double> clips;     ///< H-1 numbers: V_h is no larger

    Index part_index(Step h) const noexcept { return task.homogeneous ? 0 : h; }
    const JointPart& part(Step h) const noexcept { return parts[at(part_index(h))]; }
};

}  // namespace alidade::detail
