#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// For every (learned step, pair) an upper bound of the divergence between the learned transition law and
/// every law that is left possible, where what is uncertain bounds it. Bounds may be infinite.
class DivergenceTable {
public:
    /// Whether the bounds can be had; LearnedModel::divergence_refusal says why not.
    static bool applies(const LearnedModel& learned);

    /// Requires applies(learned).
    DivergenceTable(const LearnedModel& learned, Divergence divergence, Threads threads = {});

    /// Throws InvalidArgument unless it is of that divergence and has a number for every uncertain step
    /// and pair of the model, to which it `applies`: one divergence is no bound of the other.
    void require_fit(const LearnedModel& learned, Divergence divergence) const;

    double at(Step h, Index pair) const noexcept {
        return values_[static_cast<std::size_t>((homogeneous_ ? 0 : h) * pairs_ + pair)];
    }
    std::span<const double> row(Step h) const noexcept {
        return std::span(values_).subspan(alidade::at((homogeneous_ ? 0 : h) * pairs_), alidade::at(pairs_));
    }

private:
    Index pairs_;
    bool homogeneous_;
    Divergence divergence_;
    std::vector<double> values_;  // uncertain steps x pairs
};

}  // namespace alidade::detail
