#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// For every (learned step, pair) an upper bound tau of the total variation between the learned
/// transition law and every law that the confidence set leaves possible:
/// min(refined radius * upper width, max_i TV(P_i, P~), 1), and the misspecification added.
class DeviationTable {
public:
    DeviationTable(const LearnedModel& learned, const WidthTable& widths);
    /// Deviations known otherwise: sets x pairs numbers in [0, 1], one set if homogeneous. They must contain
    /// the misspecification.
    DeviationTable(Index pairs, bool homogeneous, std::vector<double> values);
    /// Without a width table: widths are bounded by one eigenvalue a pair [oracle §0.3], within some 20 per
    /// cent. Cheap, for terms of second order.
    static DeviationTable by_eigenvalues(const LearnedModel& learned);

    double at(Step h, Index pair) const noexcept { return row(h)[static_cast<std::size_t>(pair)]; }
    std::span<const double> row(Step h) const noexcept;
    /// Throws InvalidArgument unless there is a number for every set and pair of the model, and none below
    /// its misspecification: the condition of every bound that is computed from deviations.
    void require_fit(const LearnedModel& learned) const;
    /// Whether every deviation is exactly zero: there is nothing to learn.
    bool zero() const noexcept { return zero_; }

private:
    Index pairs_;
    bool homogeneous_;
    bool zero_ = true;
    double least_ = 1;
    std::vector<double> values_;  // sets x pairs
};

}  // namespace alidade
