#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade {

/// A transition model that features and weights make: P_h(s'|s,a) = theta_h . phi(s,a,s'). Immutable.
class MixtureModel : public TransitionModel {
public:
    /// `weights` has H rows of d numbers, or one row for a time-homogeneous model. Throws InvalidArgument
    /// unless every transition is a distribution, as TransitionModel asks.
    MixtureModel(SharedFeatures features, Index horizon, StartLaw start, Matrix weights,
                 Probabilities probabilities = Probabilities::by_size);

    const FeatureMap& features() const noexcept { return *features_; }
    const SharedFeatures& shared_features() const noexcept { return features_; }
    /// The rows given: H of them, or one if homogeneous.
    const Matrix& weights() const noexcept { return weights_; }
    Vector weights(Step h) const { return weights_.row(weights_.rows() == 1 ? 0 : h).transpose(); }

private:
    SharedFeatures features_;
    Matrix weights_;
};

}  // namespace alidade
