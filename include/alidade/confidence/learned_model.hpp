#pragma once

#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What exploration leaves behind: the model (theta~) and the sets (C) that contain the true weights
/// with probability 1 - delta. Planning and certifying need nothing else; no history is kept.
class LearnedModel {
public:
    /// `sets` has one element a learned step (H-1), or one if `homogeneous`; none if H = 1. The last
    /// step, which no reward depends on, gets the centre of the parameters, or some member where features are
    /// general. `misspecification` in [0, 1) is how far, in total variation, a true transition law may be
    /// from the mixture's; the sets must allow for it (those of regression do if they are told, those of
    /// likelihood cannot). Throws InvalidArgument unless all sets are about the weights of `features`.
    LearnedModel(const SharedFeatures& features, Index horizon, StartLaw start, bool homogeneous,
                 std::vector<ConfidenceSet> sets, double delta, double misspecification = 0);

    const MixtureModel& model() const noexcept { return model_; }
    const Shape& shape() const noexcept { return model_.shape(); }
    bool homogeneous() const noexcept { return homogeneous_; }
    double delta() const noexcept { return delta_; }
    double misspecification() const noexcept { return misspecification_; }
    const std::vector<ConfidenceSet>& sets() const noexcept { return sets_; }
    /// Position in `sets()` of step h < H-1.
    Index set_index(Step h) const noexcept { return homogeneous_ ? 0 : h; }
    const ConfidenceSet& set(Step h) const noexcept { return sets_[static_cast<std::size_t>(set_index(h))]; }

    /// Whether all sets contain the weights of `truth` (as many rows as the model has).
    bool contains(const MixtureModel& truth) const;

private:
    MixtureModel model_;
    bool homogeneous_;
    std::vector<ConfidenceSet> sets_;
    double delta_;
    double misspecification_;
};

/// How many confidence sets a problem has: H-1, or one if homogeneous; none if H = 1.
Index confidence_sets(Index horizon, bool homogeneous);

}  // namespace alidade
