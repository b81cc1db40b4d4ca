#pragma once

#include <cstdint>
#include <vector>

#include "../confidence/weighted_regression.hpp"
#include "alidade/explore/catalogue.hpp"
#include "regression_source.hpp"

namespace alidade::detail {

/// Value-targeted regression in which rows count by the inverse of their targets' variance: the idea of the
/// paper's Algorithm 2 as a source of sets, for any features and any behaviour
/// [docs/algorithms/bernstein.md]. A plain regression with half of delta looks on: its sets bound the
/// variances. V is what attains each pair's width in the weighted metric, fixed before the data are seen.
class WeightedSource final : public SetSource {
public:
    WeightedSource(SourceSetting setting, WidthMethod width);

    bool due() const override { return coarse_.due(); }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return coarse_.episodes(); }
    Knowledge knowledge() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    WidthMethod width() const override { return width_; }
    std::optional<std::int64_t> refresh_bound() const override { return coarse_.refresh_bound(); }
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

private:
    std::span<std::uint8_t> witness_of(Index set) {
        const std::size_t entries = at(setting_.task.features->entries());
        return std::span(witness_).subspan(at(set) * entries, entries);
    }
    std::vector<double> phi_of_value(Index set, Index pair) const;
    std::vector<WeightedStatistics> read_weighted(const Snapshot& record) const;
    Knowledge knowledge_of(std::span<const RidgeStatistics> coarse,
                           std::span<const WeightedStatistics> weighted, std::int64_t episodes,
                           const WidthOptions& effort) const;

    SourceSetting setting_;
    WidthMethod width_;
    WeightedRegression regression_;
    RegressionSource coarse_;
    std::vector<WeightedStatistics> statistics_;

    // Of the batch in hand:
    std::vector<std::uint8_t> witness_;  // sets x entries: V
    std::vector<double> variances_;      // sets x pairs: sigma^2; empty before the first
};

/// The entry of the catalogue of sources.
SourceEntry weighted_entry();

}  // namespace alidade::detail
