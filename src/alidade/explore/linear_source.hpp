#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "../confidence/linear_regression.hpp"
#include "alidade/explore/catalogue.hpp"
#include "set_source.hpp"

namespace alidade::detail {

/// The paper's constants of linear MDPs, whose c_beta it leaves open: beta = c_beta d sqrt(ln(dH/(delta
/// eps))) for values in [0,1]. Nothing is proved with them.
struct PrintedLinearConstants {
    double scale = 1;      ///< c_beta > 0
    double precision = 1;  ///< eps > 0, the loss that is aimed at
};

struct LinearSourceOptions {
    /// Explore with the paper's constants, and report what it would claim with them.
    std::optional<PrintedLinearConstants> printed = std::nullopt;
};

/// Regressions of a linear MDP: every V is regressed on anew, so that nothing has to be fixed before data are
/// seen, and data of anybody will do.
class LinearSource final : public SetSource {
public:
    explicit LinearSource(SourceSetting setting, LinearSourceOptions options = {});

    bool due() const override { return due_; }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return counts_.episodes(); }
    Knowledge knowledge() const override { return knowledge_of(counts_); }
    Knowledge recompute(const Snapshot& evidence) const override;
    WidthMethod width() const override { return WidthMethod::exact; }
    std::optional<std::int64_t> refresh_bound() const override;
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

    const Task& task() const noexcept { return setting_.task; }
    /// The regression of step h as of the last refresh, in this process.
    const LinearEstimate& estimate(Step h) const;
    /// The paper's beta, for values in [0,1]; zero where its constants are not asked for.
    double printed_radius() const noexcept { return printed_radius_; }

private:
    std::vector<LinearEstimate> estimates_of(const Counts& counts) const;
    std::vector<double> log_determinants() const;
    Knowledge knowledge_of(const Counts& counts) const;

    SourceSetting setting_;
    LinearRegression regression_;
    double printed_radius_ = 0;
    Counts counts_;

    // As of the last refresh:
    std::vector<LinearEstimate> estimates_;
    std::vector<double> log_det_;  // of every set
    bool due_ = true;
};

/// The entry of the catalogue of sources.
SourceEntry linear_entry();

}  // namespace alidade::detail
