#pragma once

#include <span>
#include <string>
#include <vector>

#include "../estimate/linear_statistics.hpp"
#include "alidade/confidence/learned_linear.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The regressions of a linear MDP with an explicit radius at all times, for all V in [0,1]^S at once and so
/// for every planner and every reward [docs/algorithms/lsvi.md, Theorem 1]. Data of anybody will do.
class LinearRegression {
public:
    /// `delta` is that of all sets together, in (0, 1). Throws InvalidArgument where `linear_refusal` says
    /// why.
    LinearRegression(Task task, double delta);

    const Task& task() const noexcept { return task_; }
    double delta() const noexcept { return delta_; }
    Index sets() const noexcept { return static_cast<Index>(successors_.size()); }
    /// lambda: one where the norm bound is sqrt(d), as in the paper; and so that features may be scaled.
    double regularisation() const noexcept { return regularisation_; }
    /// States that can follow at the set's steps: no other can be seen there, so that no more V count.
    Index successors(Index set) const noexcept { return successors_[at(set)]; }

    /// Throws ModelContradiction if there are counts of a state and step to which the start cannot lead:
    /// `successors` would not count what follows there.
    void require_reachable(const Counts& counts) const;

    std::vector<LinearEstimate> solve(std::span<const LinearStatistics> statistics) const;

private:
    LinearEstimate solve_set(Index set, const LinearStatistics& statistics) const;

    Task task_;
    double delta_, regularisation_;
    std::vector<std::vector<char>> reachable_;  // of every learned step, the states
    std::vector<Index> successors_;
};

/// Why regressions of linear MDPs do not serve a task; empty if they do.
std::string linear_refusal(const Task& task);
/// Why what needs weights of features of transitions does not serve a task: it is a linear MDP.
std::string pair_features_refusal(const Task& task);

}  // namespace alidade::detail
