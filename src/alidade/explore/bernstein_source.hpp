#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../confidence/weighted_regression.hpp"
#include "alidade/explore/catalogue.hpp"
#include "joint_source.hpp"

namespace alidade::detail {

/// Algorithm 2' [docs/algorithms/bernstein.md, A run] with sharp constants: theta~ is the projection, policy
/// and reward are searched, backups are robust. One regression on V^, the value in the model of what was
/// found, weighted by variances; a plain one on the same rows, with half of delta, bounds them, so that the
/// paper's regressions 2 to 5 are not needed [docs/algorithms/bernstein.md, A run].
class BernsteinSource final : public JointSource {
public:
    BernsteinSource(SourceSetting setting, const AscentOptions& ascent, WidthMethod width);

    JointProblem problem() const override;
    Knowledge knowledge() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    Snapshot evidence() const override;

private:
    void freeze(const JointProblem& problem, const JointValues& values) override;
    void take(const Counts& batch) override;
    std::vector<double> log_determinants() const override;
    void write_frozen(Snapshot& record) const override;
    void read_frozen(const Snapshot& record) override;

    JointProblem problem_of(std::vector<ConfidenceSet> sets) const;
    Knowledge knowledge_of(std::span<const RidgeStatistics> coarse,
                           std::span<const WeightedStatistics> weighted, std::int64_t episodes,
                           const WidthOptions& effort) const;

    WeightedRegression regression_;
    std::vector<RidgeStatistics> coarse_;
    std::vector<WeightedStatistics> weighted_;

    // Of the batch in hand; empty before the first:
    std::vector<double> values_;     // learned steps x states: V^_{h+1} / (H-1-h)
    std::vector<double> variances_;  // learned steps x pairs: sigma^2
};

/// The entry of the catalogue of sources: this one, or with the constants of the paper the printed one.
SourceEntry bernstein_entry();

}  // namespace alidade::detail
