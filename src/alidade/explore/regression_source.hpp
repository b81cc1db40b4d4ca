#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../confidence/value_regression.hpp"
#include "../estimate/ridge_regression.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_operator.hpp"
#include "set_source.hpp"

namespace alidade::detail {

struct RegressionSourceOptions {
    RegressionConstants constants;
    WidthMethod width = WidthMethod::exact;
};

/// What every regression of a task is told; delta is that of all its sets.
ValueRegression::Setting regression_setting(const Task& task, double delta);
/// The regression that a task asks for.
ValueRegression value_regression(const Task& task, double delta, const RegressionConstants& constants = {});

/// Value-targeted ridge regression: features and targets come from the V in {0,1} that attains each pair's
/// width, fixed before the data are seen [paper, Alg. 1 lines 6-9; theory §3].
class RegressionSource final : public SetSource {
public:
    explicit RegressionSource(SourceSetting setting, RegressionSourceOptions options = {});
    ~RegressionSource() override;

    bool due() const override { return due_; }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return episodes_; }
    Knowledge knowledge() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    WidthMethod width() const override { return options_.width; }
    bool keeps_best() const override;
    std::optional<std::int64_t> refresh_bound() const override;
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

    const ValueRegression& regression() const noexcept { return regression_; }
    /// As solved last, and whether the widths were bracketed then.
    const std::vector<RegressionSet>& solved() const noexcept { return sets_; }
    bool thorough() const noexcept { return widths_current_; }
    /// Statistics of every confidence set.
    const std::vector<RidgeStatistics>& statistics() const noexcept { return statistics_; }
    const SourceSetting& setting() const noexcept { return setting_; }

    // For who acts on the same widths, in place of `refresh`: `solve`, and then `back_up` for every learned
    // step, from the last to the first.

    /// Solves the regressions anew, and brackets the widths where they may have moved far.
    void solve();
    /// One step's regression, as solved last.
    const RegressionSet& set(Step h) const noexcept { return sets_[static_cast<std::size_t>(set_index(h))]; }
    /// A backup of one step.
    struct Backup {
        Step h = 0;
        const Vector* weights = nullptr;  ///< whose expectation is taken, in the regression's coordinates
        double scale = 0;                 ///< of the width: radius times range
        std::span<const double> next;     ///< S numbers: the value at the next step
    };
    /// values[pair] = scale * width + E[next(s')], following the maximisers of the widths on the way.
    void back_up(const Backup& backup, std::span<double> values);

private:
    Index set_index(Step h) const noexcept { return setting_.task.homogeneous ? 0 : h; }
    bool thorough_due() const;
    WidthPlanner& planner();
    /// The widths in the metrics of `sets`.
    void visit_widths(const WidthOptions& effort, std::span<const RegressionSet> sets,
                      const WidthVisitor& visitor) const;
    /// Their upper ends, sets x pairs; the search begins with the frozen witnesses if it may.
    std::vector<double> upper_widths(const WidthOptions& effort, std::span<const RegressionSet> sets,
                                     bool warm) const;
    bool determinant_doubled() const;
    /// Whether what can be computed from the features again is not kept.
    bool is_large() const;
    void write_witnesses(Snapshot& record) const;
    void read_witnesses(const Snapshot& memory);

    SourceSetting setting_;
    RegressionSourceOptions options_;
    Shape shape_;
    ValueRegression regression_;
    std::vector<RidgeStatistics> statistics_;
    std::int64_t episodes_ = 0;

    // As of the last refresh:
    std::vector<RegressionSet> sets_;
    std::vector<double> widths_;             // upper ends of the last thorough pass, unless they are many
    std::unique_ptr<WidthPlanner> planner_;  // holds the frozen witnesses V; made when it is needed
    std::vector<double> log_det_;            // of every set
    std::int64_t thorough_at_ = -1;          // episodes at the last thorough pass over the widths
    int ascents_ = 0;                        // how often witnesses may move in the next backup
    bool due_ = true;
    bool widths_current_ = false;  // widths were bracketed in the metrics of statistics_
};

/// The knowledge that solved regressions and widths support, of which the upper ends are given, sets x pairs:
/// model and certificate. Throws InvalidArgument unless the regression was made for the task.
Knowledge regression_knowledge(const Task& task, const ValueRegression& regression,
                               std::span<const RegressionSet> sets, std::vector<double> widths,
                               std::int64_t episodes, Threads threads = {});

/// Statistics of all sets as fields of a snapshot, and back. Throws InvalidArgument if they do not fit or are
/// not finite.
void write_ridge_statistics(const std::vector<RidgeStatistics>& statistics, Snapshot& record);
std::vector<RidgeStatistics> read_ridge_statistics(const Snapshot& record, Index sets, Index dimension);

/// The entry of the catalogue of sources.
SourceEntry regression_entry();

}  // namespace alidade::detail
