#include "alidade/model/mixture_model.hpp"

#include "alidade/error.hpp"

namespace alidade {

namespace {

/// theta_h . phi of every entry, step after step.
std::vector<double> mixed(const SharedFeatures& features, Index horizon, const Matrix& weights) {
    expects(features != nullptr, "a mixture model needs features");
    validate(Shape{features->states(), features->actions(), horizon});
    const Index d = features->features(), entries = features->entries();
    expects((weights.rows() == horizon || weights.rows() == 1) && weights.cols() == d,
            "weights have shape ({}, {}); must be ({}, {}) or (1, {}): a row a step, a number a feature",
            weights.rows(), weights.cols(), horizon, d, d);
    expects(weights.allFinite(), "weights are not all finite");
    std::vector<double> probabilities(at(weights.rows() * entries));
    for (Index r = 0; r < weights.rows(); ++r) {
        const Vector theta = weights.row(r).transpose();
        double* const row = probabilities.data() + r * entries;
        for (Index e = 0; e < entries; ++e) {
            const double* phi = features->values().data() + e * d;
            for (Index i = 0; i < d; ++i) row[e] += theta[i] * phi[i];
        }
    }
    return probabilities;
}

}  // namespace

MixtureModel::MixtureModel(SharedFeatures features, Index horizon, StartLaw start, Matrix weights)
    : TransitionModel(features, horizon, std::move(start), mixed(features, horizon, weights)),
      features_(std::move(features)),
      weights_(std::move(weights)) {}

}  // namespace alidade
