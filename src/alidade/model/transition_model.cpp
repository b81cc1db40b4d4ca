#include "alidade/model/transition_model.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"

namespace alidade {

TransitionModel::TransitionModel(SharedSuccessors successors, Index horizon, StartLaw start,
                                 std::vector<double> probabilities)
    : successors_(std::move(successors)), start_(std::move(start)), probabilities_(std::move(probabilities)) {
    expects(successors_ != nullptr, "a transition model needs a map of successors");
    shape_ = {successors_->states(), successors_->actions(), horizon};
    validate(shape_);
    start_.validate(shape_.states);
    const Index entries = successors_->entries();
    stationary_ = probabilities_.size() == at(entries);
    expects(stationary_ || probabilities_.size() == at(horizon) * at(entries),
            "{} probabilities; must be {} (one an entry) or {} (one an entry and step)",
            probabilities_.size(), entries, at(horizon) * at(entries));
    for (Index r = 0; r < (stationary_ ? 1 : horizon); ++r) {
        double* const row = probabilities_.data() + r * entries;
        for (Index pair = 0; pair < shape_.pairs(); ++pair) {
            double sum = 0;
            for (Index e = successors_->first_entry(pair); e < successors_->first_entry(pair + 1); ++e) {
                expects(row[e] >= -1e-9,
                        "step {}: the probability that state {}, action {} leads to state {} is {:.6g}; "
                        "must not be negative",
                        r, pair / shape_.actions, pair % shape_.actions, successors_->targets()[at(e)],
                        row[e]);
                sum += row[e];
                if (row[e] < 0) row[e] = 0;
            }
            expects(std::abs(sum - 1) <= 1e-8,
                    "step {}: the row of state {}, action {} sums to {:.12g}; must be 1", r,
                    pair / shape_.actions, pair % shape_.actions, sum);
        }
    }
}

TransitionModel TransitionModel::from_kernel(const BaseKernel& kernel, Index actions, Index horizon,
                                             StartLaw start) {
    const FeatureMap map = FeatureMap::from_base_kernels(kernel.columns, actions, {&kernel, 1});
    return {std::make_shared<const SuccessorMap>(map),
            horizon,
            std::move(start),
            {map.values().begin(), map.values().end()}};
}

std::span<const double> TransitionModel::probabilities(Step h) const noexcept {
    const Index entries = successors_->entries();
    return std::span(probabilities_).subspan(at(row(h) * entries), at(entries));
}

std::span<const double> TransitionModel::probabilities(Step h, Index pair) const noexcept {
    return probabilities(h).subspan(at(successors_->first_entry(pair)), at(successors_->successors(pair)));
}

double TransitionModel::expect(Step h, Index pair, std::span<const double> value) const noexcept {
    const double* p = probabilities_.data() + row(h) * successors_->entries();
    const std::int32_t* target = successors_->targets().data();
    double sum = 0;
    for (Index e = successors_->first_entry(pair), end = successors_->first_entry(pair + 1); e < end; ++e)
        sum += p[e] * value[at(target[e])];
    return sum;
}

}  // namespace alidade
