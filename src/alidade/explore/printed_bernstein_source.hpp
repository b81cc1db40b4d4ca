#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../confidence/bernstein_regression.hpp"
#include "joint_source.hpp"

namespace alidade::detail {

struct PrintedBernsteinOptions {
    BernsteinRadii radii = BernsteinRadii::printed;
    std::int64_t episodes = 1;  ///< K, which radii are told beforehand
    bool argmax = false;  ///< theta~ of the argmax is handed over, as printed, instead of the projection
    AscentOptions ascent;
    WidthMethod width = WidthMethod::exact;
};

/// The paper's Algorithm 2 as printed, its errors mended [theory §1.5]: five regressions, of which U_h is
/// what they leave possible, and a joint maximum over policy, model and reward. Departures are said at their
/// lines; the best iterate is handed over and not the last, as the lemma that makes the last the best is
/// false (errata 5 and 6).
class PrintedBernsteinSource final : public JointSource {
public:
    PrintedBernsteinSource(SourceSetting setting, const PrintedBernsteinOptions& options);

    JointProblem problem() const override;
    Knowledge knowledge() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    Snapshot evidence() const override;

    const BernsteinRegression& regression() const noexcept { return regression_; }
    const std::vector<FiveStatistics>& statistics() const noexcept { return statistics_; }

private:
    using Generation = std::vector<FiveStatistics>;  // of all sets

    /// What the next batch is regressed on; all empty before the first.
    struct Frozen {
        std::vector<double> values;                // learned steps x states: V^_{h+1} over its range
        std::vector<double> optimistic;            // the same of V_{h+1}
        std::vector<double> to_go;                 // of Y~_{h+1}
        std::vector<double> variances;             // learned steps x pairs: sigma_1^2
        std::vector<double> optimistic_variances;  // sigma_2^2
    };

    void freeze(const JointProblem& problem, const JointValues& values) override;
    void take(const Counts& batch) override;
    std::vector<double> log_determinants() const override;
    void write_frozen(Snapshot& record) const override;
    void read_frozen(const Snapshot& record) override;

    double clip(Step h) const;
    JointProblem problem_of(const Generation& statistics, std::span<const Generation> before) const;
    double variance_bound(Step h, Index pair, const JointValues& found, bool optimistic,
                          std::span<const FiveSolved> solved) const;
    void freeze_variance_to_go(const JointValues& found);
    Knowledge knowledge_of(const Generation& statistics, const std::vector<Vector>& argmax,
                           std::int64_t episodes, const WidthOptions& effort) const;
    Knowledge certified(std::vector<ConfidenceSet> sets, std::int64_t episodes,
                        const WidthOptions& effort) const;
    std::vector<Vector> argmax_weights() const;

    PrintedBernsteinOptions options_;
    BernsteinRegression regression_;
    Generation statistics_;
    std::vector<Generation> before_;  // those of the last refreshes, the latest first
    Frozen frozen_;
};

}  // namespace alidade::detail
