#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

/// For every (learned step, pair) an upper bound tau of the total variation between the learned
/// transition law and every law that is left possible.
class DeviationTable {
public:
    /// Of weights in confidence sets, by their widths: sharper than what they say of themselves.
    DeviationTable(const LearnedMixture& learned, const WidthTable& widths);
    /// Deviations known otherwise: uncertain steps x pairs numbers in [0, 1], one step if homogeneous.
    DeviationTable(Index pairs, bool homogeneous, std::vector<double> values);
    /// What the learned model says of itself (LearnedModel::variations). Cheap, for terms of second order.
    static DeviationTable of(const LearnedModel& learned);
    /// The same of weights by the widths of their sets, set by set; what others say of themselves is sharp.
    static DeviationTable by_widths(const LearnedModel& learned, const WidthOptions& widths = {},
                                    Threads threads = {});

    /// The deviations of mixtures alone: less the misspecification, by which all were widened; one stays one.
    DeviationTable without(double misspecification) const;

    double at(Step h, Index pair) const noexcept { return row(h)[static_cast<std::size_t>(pair)]; }
    std::span<const double> row(Step h) const noexcept;
    /// Throws InvalidArgument unless there is a number for every uncertain step and pair of the model, and
    /// none below LearnedModel::row_radius: the condition of every bound that is computed from deviations.
    void require_fit(const LearnedModel& learned) const;
    /// Whether every deviation is exactly zero: there is nothing to learn.
    bool zero() const noexcept { return zero_; }

private:
    Index pairs_;
    bool homogeneous_;
    bool zero_ = true;
    std::vector<double> values_;  // uncertain steps x pairs
};

}  // namespace alidade
