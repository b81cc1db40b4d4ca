#pragma once

#include <memory>
#include <string>
#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Weights in confidence sets: the model is the mixture of theta~, and the truth the mixture of members of
/// the sets (C), or farther from it by the misspecification at most.
class LearnedMixture final : public LearnedModel {
public:
    /// `sets` has one element a learned step (H-1), or one if `homogeneous`; none if H = 1. The last
    /// step, which no reward depends on, gets the centre of the parameters, or some member where features are
    /// general. `misspecification` in [0, 1) is how far, in total variation, a true transition law may be
    /// from the mixture's; the sets must allow for it (those of regression and of bets do if they are told,
    /// those of likelihood cannot). `reach` is where it may lead then. Throws InvalidArgument unless all sets
    /// are about the weights of `features`.
    LearnedMixture(const SharedFeatures& features, Index horizon, StartLaw start, bool homogeneous,
                   std::vector<ConfidenceSet> sets, double delta, double misspecification = 0,
                   Reach reach = Reach::anywhere);
    /// The same of a task.
    LearnedMixture(const Task& task, std::vector<ConfidenceSet> sets, double delta);

    const MixtureModel& model() const noexcept override { return model_; }
    double misspecification() const noexcept { return misspecification_; }
    Reach reach() const noexcept { return reach_; }
    /// The same sets, of mixtures alone: what is left possible of the mixture that the truth is near
    /// [misspecification, Lemma 7].
    LearnedMixture exact() const;
    const std::vector<ConfidenceSet>& sets() const noexcept { return sets_; }
    const ConfidenceSet& set(Step h) const noexcept { return sets_[static_cast<std::size_t>(set_index(h))]; }

    std::unique_ptr<ExpectationBounds> expectations(WorstCase worst = WorstCase::closed_form) const override;
    /// Widths are bounded by one eigenvalue a pair [oracle §0.3], within some 20 per cent.
    std::vector<double> variations() const override;
    /// By a table of widths: min(refined radius * upper width, max_i TV(P_i, P~), 1), and the
    /// misspecification added. Of sets with vertices it is the largest total variation of a vertex, which
    /// needs no widths [misspecification, Theorem 3].
    std::vector<double> variations(const WidthTable& widths) const;
    /// The same by upper ends of widths, sets x pairs; they become the variations where they lie.
    std::vector<double> variations(std::vector<double> upper, Threads threads = {}) const;
    /// Those of one set, by the upper ends of the pairs' widths in its metric: one number a pair; of a set
    /// with vertices there may be none. Both may be the same memory.
    void variations_of_set(Index set, std::span<const double> upper, Threads threads,
                           std::span<double> values) const;
    /// The misspecification.
    double row_radius(Step, Index) const noexcept override { return misspecification_; }
    std::string divergence_refusal() const override;
    /// Of mixtures: a law that is any distance from them may be infinitely far from the learned one. Where
    /// there is a misspecification, bounds go from the mixture to the truth by [misspecification, Lemma 7].
    /// With x_j = (P_j - P~_j)/P~_j and the tangent features w_j in the set's metric, the chi-square is at
    /// most radius^2 lambda_max(sum_j w_j w_j'/P~_j), and the KL divergence the same with kappa(-c_j) w_j
    /// w_j', where x_j >= -c_j and kappa(x) = (x - ln(1+x))/x^2 [likelihood §4 B]; both are convex in the
    /// weights, so no more than at the farthest base model, if there are base models. Successors that the
    /// learned law excludes but a base model does not make the chi-square infinite before that cap, and add
    /// the mass that they may have to the KL divergence; so do those that are hardly known, where that is
    /// less. Of sets with vertices they are the largest of a vertex.
    std::vector<double> divergences(Divergence divergence, Threads threads = {}) const override;
    /// The largest of its weights' depths in the sets.
    double depth(const MixtureModel& truth) const override;
    bool contains(const MixtureModel& truth) const override;
    double depth(const TransitionModel& truth) const override;
    bool contains(const TransitionModel& truth) const override;
    const LearnedMixture* mixture() const noexcept override { return this; }

private:
    MixtureModel model_;
    std::vector<ConfidenceSet> sets_;
    double misspecification_;
    Reach reach_;
};

}  // namespace alidade
