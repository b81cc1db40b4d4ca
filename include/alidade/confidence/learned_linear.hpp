#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_rows.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What the regression of a linear MDP says at one step, or at all of them: w^(V) = mu^ V for every V, and
/// |phi . w^(V) - P V| <= radius * |phi| in the metric of Lambda^-1 for all V in [0,1]^S at once.
struct LinearEstimate {
    Matrix measures;        ///< mu^ = Lambda^-1 M, d x S
    Matrix inverse_factor;  ///< L^-1, lower triangular, of Lambda = L L'
    double radius = 0;      ///< beta, what rounding can have moved included

    /// phi . w^(V) of every pair.
    Vector expect(const PairFeatures& features, const Vector& value) const {
        return features.matrix().transpose() * (measures * value);
    }
};

/// A linear MDP learned by regression [paper, App. D]. phi . mu^ is no law: it has negative entries and
/// another mass than one. The model that is handed over has the negative entries set to zero and the rest
/// divided by its sum, which is within min(1, u) of the truth in total variation, u = radius |phi|
/// [docs/algorithms/lsvi.md, Theorem 2]: rows in balls, for any planner and any reward.
class LearnedLinear final : public LearnedRows {
public:
    /// `estimates` has one element a learned step (H-1), or one if the task is homogeneous. Throws
    /// InvalidArgument if they do not fit the task, and ModelContradiction where no law is within u of
    /// phi . mu^: the event has failed, or the system is no linear MDP of these features.
    LearnedLinear(const Task& task, const std::vector<LinearEstimate>& estimates, double delta);

    const PairFeatures& features() const noexcept { return *features_; }
    const LinearEstimate& estimate(Step h) const noexcept { return estimates_[at(set_index(h))]; }
    /// u at h < H-1, not cut at one: |phi . w^(V) - P V| <= u for all V in [0,1]^S.
    double bonus(Step h, Index pair) const noexcept {
        return bonuses_[at(set_index(h) * features_->pairs() + pair)];
    }

    const LearnedLinear* linear() const noexcept override { return this; }

private:
    struct Parts;
    static Parts parts_of(const Task& task, const std::vector<LinearEstimate>& estimates);
    LearnedLinear(const Task& task, std::vector<LinearEstimate> estimates, double delta, Parts parts);

    SharedPairFeatures features_;
    std::vector<LinearEstimate> estimates_;
    std::vector<double> bonuses_;  // uncertain steps x pairs
};

}  // namespace alidade
