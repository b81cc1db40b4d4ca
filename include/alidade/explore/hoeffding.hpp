#pragma once

#include <memory>
#include <span>
#include <vector>

#include "alidade/confidence/value_regression.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

namespace detail {
class PlanningPass;
}

/// How a regression explorer chooses actions.
enum class ActionRule {
    optimistic,  ///< towards what is uncertain: the greedy policy of the error recursion
    uniform,     ///< every action equally likely: the baseline
};

/// The paper's Algorithm 1 with the sharp constants of [theory §3]: value-targeted ridge regression in
/// the tangent space, features and targets from the V in {0,1} that attains each pair's width, and the
/// greedy policy of E_h = max_a min(H-1-h, (H-1-h) beta width + P~ E_{h+1}) in place of the paper's
/// doubly optimistic Q [paper, Alg. 1 lines 8-13; oracle §0.4]. With the paper's constants, Algorithm 1 as
/// printed, each departure said at its line in the source.
class HoeffdingExplorer final : public Explorer {
public:
    HoeffdingExplorer(Task task, ExplorerOptions options, ActionRule rule = ActionRule::optimistic);
    ~HoeffdingExplorer() override;

    Deployment ask() override;
    Deployment repeat() const override;
    void tell(const Counts& counts) override;
    Knowledge knowledge() override;
    std::int64_t episodes() const override { return episodes_; }
    std::int64_t replans() const override { return replans_; }
    std::int64_t replan_bound() const override;
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

    /// Statistics of every confidence set.
    const std::vector<RidgeStatistics>& statistics() const noexcept { return statistics_; }

private:
    void replan();
    bool refresh_due() const;
    void choose_actions(int ascents);
    Action choose(const double* values, Step h, State s) const;
    void bracket(const WidthOptions& effort, std::span<const RegressionSet> sets, WidthTable& widths) const;
    void observe(Index set, Index pair, const std::int64_t* seen);
    bool determinant_doubled() const;

    Task task_;
    ExplorerOptions options_;
    ActionRule rule_;
    Shape shape_;
    ValueRegression regression_;
    std::vector<RidgeStatistics> statistics_;
    std::int64_t episodes_ = 0, replans_ = 0, cut_ = 0;  // cut_: batches told that were cut short

    // Of the policy in force:
    std::shared_ptr<const Policy> policy_;
    std::vector<RegressionSet> sets_;
    WidthTable widths_;                           // of the last thorough pass
    std::unique_ptr<detail::PlanningPass> pass_;  // holds the frozen witnesses V
    std::vector<double> feature_;                 // scratch: psi_V of one pair
    std::vector<double> log_det_;                 // of every set when the policy was computed
    std::int64_t thorough_at_ = -1;               // episodes at the last thorough pass over the widths
    bool replan_due_ = true;
    bool widths_current_ = false;  // widths_ are those of statistics_
};

/// The regression that a task and options ask for.
ValueRegression value_regression(const Task& task, const ExplorerOptions& options);

/// The knowledge that solved regressions and widths support: model and certificate. Throws InvalidArgument
/// unless the regression was made for the task.
Knowledge regression_knowledge(const Task& task, const ValueRegression& regression,
                               std::span<const RegressionSet> sets, const WidthTable& widths,
                               std::int64_t episodes);

/// The same from an explorer's evidence.
Knowledge recompute_hoeffding(const Task& task, const Snapshot& evidence, const ExplorerOptions& options);

}  // namespace alidade
