#pragma once

#include <memory>
#include <span>
#include <vector>

#include "alidade/model/successor_map.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// phi(s,a) of a linear MDP: P_h(s'|s,a) = mu_h(s') . phi(s,a), phi known and mu_h unknown [paper, App. D]. A
/// map of successors with d contiguous numbers for each pair. Immutable.
class PairFeatures : public SuccessorMap {
public:
    /// `values` has d numbers for each pair, |phi(s,a)| <= 1 up to rounding. `norm_bound` is such that
    /// |sum over s' of mu_h(s') V(s')| <= norm_bound for every V in [0,1]^S and step h; the paper has
    /// sqrt(d). Throws InvalidArgument naming the state and action that are not so.
    PairFeatures(SuccessorMap successors, Index features, std::vector<double> values, double norm_bound);

    Index features() const noexcept { return features_; }  ///< d
    double norm_bound() const noexcept { return norm_bound_; }
    /// The d features of one pair.
    Eigen::Map<const Vector> phi(Index pair) const noexcept {
        return {values_.data() + pair * features_, features_};
    }
    /// All features, pair after pair: column after column of a d x pairs matrix.
    Eigen::Map<const Matrix> matrix() const noexcept { return {values_.data(), features_, pairs()}; }
    std::span<const double> values() const noexcept { return values_; }

    bool operator==(const PairFeatures&) const = default;

private:
    Index features_;
    std::vector<double> values_;
    double norm_bound_;
};

/// As feature maps, they are shared.
using SharedPairFeatures = std::shared_ptr<const PairFeatures>;

/// The map in which every state can follow every pair.
SuccessorMap all_successors(Index states, Index actions);

/// The transition model of the measures mu_h: H matrices of d rows and S columns, or one for all steps.
/// Throws InvalidArgument naming the step, state and action whose law has a negative probability, does not
/// sum to one, or has mass outside the pair's successors, and the step whose measures are larger than the
/// norm bound.
TransitionModel linear_model(const SharedPairFeatures& features, Index horizon, StartLaw start,
                             const std::vector<Matrix>& measures);

}  // namespace alidade
