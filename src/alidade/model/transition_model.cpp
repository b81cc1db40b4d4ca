#include "alidade/model/transition_model.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"
#include "kept_size.hpp"

namespace alidade {

namespace {

bool keeps(Probabilities choice, double numbers) {
    if (choice == Probabilities::by_size) return detail::is_kept(numbers);
    return choice == Probabilities::kept;
}

/// Convex weights of base models make laws, whatever the rows are.
bool always_laws(const FeatureMap& features, const Matrix& weights) {
    if (features.kind() != FeatureKind::base_models) return false;
    const auto sums = weights.rowwise().sum().array();
    return (weights.array() >= 0).all() && ((sums - 1).abs() <= 1e-9).all();
}

}  // namespace

void TransitionModel::set_shape(Index horizon) {
    expects(successors_ != nullptr, "a transition model needs a map of successors");
    shape_ = {successors_->states(), successors_->actions(), horizon};
    validate(shape_);
    start_.validate(shape_.states);
}

TransitionModel::TransitionModel(SharedSuccessors successors, Index horizon, StartLaw start,
                                 std::vector<double> probabilities)
    : successors_(std::move(successors)), start_(std::move(start)), probabilities_(std::move(probabilities)) {
    set_shape(horizon);
    const Index entries = successors_->entries();
    stationary_ = probabilities_.size() == at(entries);
    expects(stationary_ || probabilities_.size() == at(horizon) * at(entries),
            "{} probabilities; must be {} (one an entry) or {} (one an entry and step)",
            probabilities_.size(), entries, at(horizon) * at(entries));
    for (Index r = 0; r < (stationary_ ? 1 : horizon); ++r)
        for (Index pair = 0; pair < shape_.pairs(); ++pair)
            make_law(r, pair,
                     std::span(probabilities_)
                         .subspan(at(r * entries + successors_->first_entry(pair)),
                                  at(successors_->successors(pair))));
}

TransitionModel::TransitionModel(std::shared_ptr<const FeatureMap> features, Index horizon, StartLaw start,
                                 const Matrix& weights, Probabilities probabilities)
    : successors_(features), start_(std::move(start)) {
    set_shape(horizon);
    const Index d = features->features(), entries = features->entries(), rows = weights.rows();
    expects((rows == horizon || rows == 1) && weights.cols() == d,
            "weights have shape ({}, {}); must be ({}, {}) or (1, {}): a row a step, a number a feature",
            rows, weights.cols(), horizon, d, d);
    expects(weights.allFinite(), "weights are not all finite");
    stationary_ = rows == 1;
    mixed_ = std::move(features);
    mixing_ = weights.transpose();
    const bool kept = keeps(probabilities, static_cast<double>(rows) * static_cast<double>(entries));
    if (!kept && always_laws(*mixed_, weights)) return;
    if (kept) probabilities_.resize(at(rows * entries));
    std::vector<double> law(at(successors_->max_successors()));
    for (Index r = 0; r < rows; ++r)
        for (Index pair = 0; pair < shape_.pairs(); ++pair) {
            const std::size_t count = at(successors_->successors(pair));
            const auto place = kept ? std::span(probabilities_)
                                          .subspan(at(r * entries + successors_->first_entry(pair)), count)
                                    : std::span(law).first(count);
            mix(r, pair, place);
            make_law(r, pair, place);
        }
    if (kept) mixed_.reset();
}

TransitionModel TransitionModel::from_kernel(const BaseKernel& kernel, Index actions, Index horizon,
                                             StartLaw start) {
    const FeatureMap map = FeatureMap::from_base_kernels(kernel.columns, actions, {&kernel, 1});
    return {std::make_shared<const SuccessorMap>(map),
            horizon,
            std::move(start),
            {map.values().begin(), map.values().end()}};
}

void TransitionModel::make_law(Index row, Index pair, std::span<double> law) const {
    double sum = 0;
    for (std::size_t j = 0; j < law.size(); ++j) {
        expects(law[j] >= -1e-9,
                "step {}: the probability that state {}, action {} leads to state {} is {:.6g}; "
                "must not be negative",
                row, pair / shape_.actions, pair % shape_.actions, successors_->targets(pair)[j], law[j]);
        sum += law[j];
        if (law[j] < 0) law[j] = 0;
    }
    expects(std::abs(sum - 1) <= 1e-8, "step {}: the row of state {}, action {} sums to {:.12g}; must be 1",
            row, pair / shape_.actions, pair % shape_.actions, sum);
}

void TransitionModel::mix(Index row, Index pair, std::span<double> law) const noexcept {
    const Index d = mixing_.rows();
    const double* const theta = mixing_.data() + row * d;
    const double* phi = mixed_->values().data() + successors_->first_entry(pair) * d;
    for (double& probability : law) {
        double sum = 0;
        for (Index i = 0; i < d; ++i) sum += theta[i] * phi[i];
        probability = sum;
        phi += d;
    }
}

Law TransitionModel::probabilities(Step h, Index pair) const {
    const std::size_t count = at(successors_->successors(pair));
    if (mixed_ == nullptr)
        return Law(std::span(probabilities_)
                       .subspan(at(row(h) * successors_->entries() + successors_->first_entry(pair)), count));
    Law law(count);
    mix(row(h), pair, law.own());
    // Those that rounding made negative were checked to be tiny.
    for (double& probability : law.own()) probability = std::max(0.0, probability);
    return law;
}

std::vector<double> TransitionModel::all_probabilities(Step h) const {
    const auto entries = at(successors_->entries());
    if (mixed_ == nullptr) {
        const auto stored = std::span(probabilities_).subspan(at(row(h)) * entries, entries);
        return {stored.begin(), stored.end()};
    }
    std::vector<double> all;
    all.reserve(entries);
    for (Index pair = 0; pair < shape_.pairs(); ++pair) {
        const Law law = probabilities(h, pair);
        all.insert(all.end(), law.begin(), law.end());
    }
    return all;
}

double TransitionModel::expect(Step h, Index pair, std::span<const double> value) const noexcept {
    const Index first = successors_->first_entry(pair), end = successors_->first_entry(pair + 1);
    const std::int32_t* const target = successors_->targets().data();
    double sum = 0;
    if (mixed_ == nullptr) {
        const double* p = probabilities_.data() + row(h) * successors_->entries();
        for (Index e = first; e < end; ++e) sum += p[e] * value[at(target[e])];
        return sum;
    }
    const Index d = mixing_.rows();
    const double* const theta = mixing_.data() + row(h) * d;
    const double* phi = mixed_->values().data() + first * d;
    for (Index e = first; e < end; ++e, phi += d) {
        double probability = 0;
        for (Index i = 0; i < d; ++i) probability += theta[i] * phi[i];
        sum += std::max(0.0, probability) * value[at(target[e])];
    }
    return sum;
}

}  // namespace alidade
