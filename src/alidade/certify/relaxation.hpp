#pragma once

#include <string>
#include <vector>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/width/width.hpp"
#include "joint_problem.hpp"

namespace alidade::detail {

struct RelaxationOptions {
    WidthOptions widths;
    Threads threads;  ///< results do not depend on them
    /// By how much values V^ of the steps 0 .. H vary over the states at most, where the weights are fixed
    /// and known; none: by the steps that are left.
    std::vector<double> spans;
    const WidthTable* first = nullptr;  ///< the widths of u_1, where they are at hand
};

/// No value of a joint problem is larger, whatever policy, reward and weights
/// [docs/algorithms/bernstein.md, Theorem 3]:
///   W_h(s) = max_a min{clip_h, beta-hat max over V^ of |phi of V^| + (2 beta-hat max over V <= W_{h+1} of
///   |phi of V|) + max over the set of the expectation of W_{h+1}},
/// the part in brackets for the printed backup alone. A truth that is off its mixture by the task's
/// misspecification is allowed for. The actions are those that attain the maxima.
ErrorRecursion relaxation(const JointProblem& problem, const RelaxationOptions& options);

/// The mean of its first values over the start: B of [docs/algorithms/bernstein.md, Theorem 2].
double relaxed_value(const JointProblem& problem, const ErrorRecursion& relaxed);

/// The bound of losses that it makes for a model whose weights are within the radius of u_1 of the truth's,
/// as a projection's are: 2B, and a rounding slack. Any other member is within twice that radius, and B with
/// that is at most twice as large: 4B.
double relaxation_certificate(const JointProblem& problem, const ErrorRecursion& relaxed);

/// Adds a candidate to a certificate, whose bound becomes the lesser of both.
void add_candidate(RewardFreeCertificate& certificate, const std::string& name, double bound, Index horizon);

}  // namespace alidade::detail
