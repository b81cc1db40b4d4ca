#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// How far a law is from the learned one, in a way that adds up along a trajectory.
enum class Divergence {
    kl,          ///< KL(P~ || P)
    chi_square,  ///< sum of (P - P~)^2 / P~
};

/// Learned probabilities up to this are taken to be zero where divergences are computed, since what rounding
/// leaves of a zero would make them infinite. Values move by H^2 m times it, far below the rounding slack.
inline constexpr double negligible_probability = 1e-15;

/// For every (learned step, pair) an upper bound of the divergence between the learned transition law and
/// every law that the confidence set leaves possible. With x_j = (P_j - P~_j)/P~_j and the tangent features
/// w_j in the set's metric, the chi-square is at most radius^2 lambda_max(sum_j w_j w_j'/P~_j), and the
/// KL divergence the same with kappa(-c_j) w_j w_j', where x_j >= -c_j and kappa(x) = (x - ln(1+x))/x^2
/// [likelihood §4 B]; both are convex in the weights, so no more than at the farthest base model. Successors
/// that the learned law excludes but a base model does not make the chi-square infinite before that cap, and
/// add the mass that they may have to the KL divergence; so do those that are hardly known, where that is
/// less. Bounds may be infinite.
class DivergenceTable {
public:
    /// Whether the bounds can be had: base models, and no misspecification (a law that is any distance from
    /// the mixtures may be infinitely far from the learned one).
    static bool applies(const LearnedModel& learned);

    /// Requires applies(learned).
    DivergenceTable(const LearnedModel& learned, Divergence divergence);

    /// Throws InvalidArgument unless it is of that divergence and has a number for every set and pair of the
    /// model, to which it `applies`: one divergence is no bound of the other.
    void require_fit(const LearnedModel& learned, Divergence divergence) const;

    double at(Step h, Index pair) const noexcept {
        return values_[static_cast<std::size_t>((homogeneous_ ? 0 : h) * pairs_ + pair)];
    }

private:
    Index pairs_;
    bool homogeneous_;
    Divergence divergence_;
    std::vector<double> values_;  // sets x pairs
};

}  // namespace alidade
