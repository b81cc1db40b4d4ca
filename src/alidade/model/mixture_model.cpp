#include "alidade/model/mixture_model.hpp"

#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

MixtureModel::MixtureModel(SharedFeatures features, Index horizon, StartLaw start, Matrix weights)
    : features_(std::move(features)), start_(std::move(start)), weights_(std::move(weights)) {
    expects(features_ != nullptr, "a mixture model needs features");
    shape_ = {features_->states(), features_->actions(), horizon};
    validate(shape_);
    start_.validate(shape_.states);
    const Index d = features_->features(), entries = features_->entries();
    expects((weights_.rows() == horizon || weights_.rows() == 1) && weights_.cols() == d,
            "weights have shape ({}, {}); must be ({}, {}) or (1, {}): a row a step, a number a feature",
            weights_.rows(), weights_.cols(), horizon, d, d);
    expects(weights_.allFinite(), "weights are not all finite");

    probabilities_.resize(static_cast<std::size_t>(weights_.rows() * entries));
    for (Index r = 0; r < weights_.rows(); ++r) {
        const Vector theta = weights_.row(r).transpose();
        double* out = probabilities_.data() + r * entries;
        for (Index pair = 0; pair < shape_.pairs(); ++pair) {
            double sum = 0;
            for (Index e = features_->first_entry(pair); e < features_->first_entry(pair + 1); ++e) {
                const double* phi = features_->values().data() + e * d;
                double p = 0;
                for (Index i = 0; i < d; ++i) p += theta[i] * phi[i];
                expects(
                    p >= -1e-9,
                    "weights of step {} give state {}, action {} the probability {:.6g} to reach state {}; "
                    "must not be negative",
                    r, pair / shape_.actions, pair % shape_.actions, p,
                    features_->targets()[static_cast<std::size_t>(e)]);
                sum += p;
                out[e] = p < 0 ? 0 : p;
            }
            expects(std::abs(sum - 1) <= 1e-8,
                    "weights of step {} make the row of state {}, action {} sum to {:.12g}; must be 1", r,
                    pair / shape_.actions, pair % shape_.actions, sum);
        }
    }
}

std::span<const double> MixtureModel::probabilities(Step h) const noexcept {
    const Index entries = features_->entries();
    return std::span(probabilities_)
        .subspan(static_cast<std::size_t>(row(h) * entries), static_cast<std::size_t>(entries));
}

std::span<const double> MixtureModel::probabilities(Step h, Index pair) const noexcept {
    return probabilities(h).subspan(static_cast<std::size_t>(features_->first_entry(pair)),
                                    static_cast<std::size_t>(features_->successors(pair)));
}

double MixtureModel::expect(Step h, Index pair, std::span<const double> value) const noexcept {
    const double* p = probabilities_.data() + row(h) * features_->entries();
    const std::int32_t* target = features_->targets().data();
    double sum = 0;
    for (Index e = features_->first_entry(pair), end = features_->first_entry(pair + 1); e < end; ++e)
        sum += p[e] * value[static_cast<std::size_t>(target[e])];
    return sum;
}

}  // namespace alidade
