#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Rows in total-variation balls, by table: with no parameters between them, every row of every step, or one
/// for all steps, is known up to a radius of its own. The true row has no mass but on the pair's successors,
/// of which the learned row need not have seen all; rows do not constrain each other. A mixture that is
/// misspecified by zeta is the case of one radius beside weights (LearnedMixture).
class LearnedRows : public LearnedModel {
public:
    /// `radii` has one number in [0, 1] for each uncertain step (H-1, or one if `homogeneous`; none if H = 1)
    /// and pair: largest total variation between the true row and the model's, zero where it is known.
    /// Throws InvalidArgument if there are others, if the model's rows do not sum to one up to rounding, and
    /// if `homogeneous` but the model has rows of its own at each step.
    LearnedRows(TransitionModel model, bool homogeneous, std::vector<double> radii, double delta);

    const TransitionModel& model() const noexcept override { return model_; }
    /// The radius of a pair, or the distance of the farthest law on its successors if that is less.
    double radius(Step h, Index pair) const noexcept {
        return radii_[static_cast<std::size_t>(set_index(h) * shape().pairs() + pair)];
    }

    /// The extremes over the ball are attained by moving mass, as much as the radius, from the successors
    /// whose value is the worst to the best one: both kinds of WorstCase are the exact extremes but for
    /// rounding.
    std::unique_ptr<ExpectationBounds> expectations(WorstCase worst = WorstCase::closed_form) const override;
    /// The radii.
    std::vector<double> variations() const override { return radii_; }
    double row_radius(Step h, Index pair) const noexcept override { return radius(h, pair); }
    /// A law that is at any distance may exclude what the learned one does not.
    std::string divergence_refusal() const override;
    std::vector<double> divergences(Divergence divergence, Threads threads = {}) const override;
    /// The largest distance of a row of the truth, in radii. Infinite where it leads to a state that is no
    /// successor in the model, or where a row is known and another.
    double depth(const TransitionModel& truth) const override;
    double depth(const MixtureModel& truth) const override { return depth(rows_of(truth)); }
    /// Up to 1e-9 in the distances.
    bool contains(const TransitionModel& truth) const override;
    bool contains(const MixtureModel& truth) const override { return contains(rows_of(truth)); }

private:
    static const TransitionModel& rows_of(const MixtureModel& truth) noexcept { return truth; }

    TransitionModel model_;
    std::vector<double> radii_;  // uncertain steps x pairs
};

}  // namespace alidade
