#pragma once

#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/start_law.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A finite-horizon decision process without rewards: P_h(s'|s,a) = theta_h . phi(s,a,s'), and a
/// known start. Immutable; the transition probabilities are computed once.
class MixtureModel {
public:
    /// `weights` has H rows of d numbers, or one row for a time-homogeneous model. Throws
    /// InvalidArgument unless every transition is a distribution (>= -1e-9, sums to 1 within 1e-8);
    /// tiny negative probabilities are set to zero.
    MixtureModel(SharedFeatures features, Index horizon, StartLaw start, Matrix weights);

    const Shape& shape() const noexcept { return shape_; }
    const FeatureMap& features() const noexcept { return *features_; }
    const SharedFeatures& shared_features() const noexcept { return features_; }
    const StartLaw& start() const noexcept { return start_; }
    /// The rows given: H of them, or one if homogeneous.
    const Matrix& weights() const noexcept { return weights_; }
    bool homogeneous() const noexcept { return weights_.rows() == 1 && shape_.horizon > 1; }
    Vector weights(Step h) const { return weights_.row(row(h)).transpose(); }

    /// Probability of every entry at step h.
    std::span<const double> probabilities(Step h) const noexcept;
    /// Probabilities of one pair's successors at step h.
    std::span<const double> probabilities(Step h, Index pair) const noexcept;
    /// E[value(s') | s, a] at step h; `value` has one number a state.
    double expect(Step h, Index pair, std::span<const double> value) const noexcept;

private:
    Index row(Step h) const noexcept { return weights_.rows() == 1 ? 0 : h; }

    SharedFeatures features_;
    Shape shape_;
    StartLaw start_;
    Matrix weights_;
    std::vector<double> probabilities_;  // weights_.rows() x entries
};

}  // namespace alidade
