#include "alidade/model/mixture_model.hpp"

#include "alidade/error.hpp"

namespace alidade {

namespace {

SharedFeatures required(SharedFeatures features) {
    expects(features != nullptr, "a mixture model needs features");
    return features;
}

}  // namespace

MixtureModel::MixtureModel(SharedFeatures features, Index horizon, StartLaw start, Matrix weights,
                           Probabilities probabilities)
    : TransitionModel(required(features), horizon, std::move(start), weights, probabilities),
      features_(std::move(features)),
      weights_(std::move(weights)) {}

}  // namespace alidade
