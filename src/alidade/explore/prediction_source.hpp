#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../confidence/signed_likelihood.hpp"
#include "alidade/model/tangent_space.hpp"
#include "set_source.hpp"

namespace alidade::detail {

/// Likelihood sets of signed features: by how well weights that were fixed before each batch predicted it
/// [docs/algorithms/likelihood.md, Signed features]. They hold for any behaviour, but not for logs, of which
/// nothing was predicted.
class PredictionSource final : public SetSource {
public:
    PredictionSource(SourceSetting setting, WidthMethod width);

    bool due() const override { return due_; }
    void refresh() override;
    void absorb(const Counts& batch) override;
    std::int64_t episodes() const override { return counts_.episodes(); }
    Knowledge knowledge() const override;
    Knowledge recompute(const Snapshot& evidence) const override;
    WidthMethod width() const override { return width_; }
    Snapshot evidence() const override;
    Snapshot memory() const override;
    void restore(const Snapshot& memory) override;

private:
    double log_det(const std::vector<double>& counts, const Vector& weights) const;
    Knowledge knowledge_of(const Counts& counts, const std::vector<double>& predicted,
                           const WidthOptions& effort, const std::vector<Vector>& starts) const;

    SourceSetting setting_;
    WidthMethod width_;
    SignedLikelihood likelihood_;
    Counts counts_;
    std::vector<double> predicted_;  // of every set: sum of ln(q . phi) over its transitions

    // As of the last refresh:
    std::vector<Vector> predictors_;  // q, of every set
    std::vector<double> log_det_;
    bool due_ = true;
};

}  // namespace alidade::detail
