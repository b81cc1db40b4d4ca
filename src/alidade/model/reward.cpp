#include "alidade/model/reward.hpp"

#include "alidade/error.hpp"

namespace alidade {

Reward::Reward(const Shape& shape, std::vector<double> values) : shape_(shape), values_(std::move(values)) {
    validate(shape_);
    const auto size = static_cast<Index>(values_.size()), pairs = shape_.pairs();
    expects(size == pairs || size == pairs * shape_.horizon,
            "reward has {} values; must be {} (states*actions) or {} (horizon*states*actions)", size, pairs,
            pairs * shape_.horizon);
    for (Index i = 0; i < size; ++i) {
        const double r = values_[static_cast<std::size_t>(i)];
        const Index pair = i % pairs;
        expects(r >= 0 && r <= 1, "reward of step {}, state {}, action {} is {}; must be from 0 to 1",
                size == pairs ? std::string("0 (all steps)") : std::to_string(i / pairs),
                pair / shape_.actions, pair % shape_.actions, r);
    }
}

Reward Reward::constant(const Shape& shape, double value) {
    validate(shape);
    return {shape, std::vector<double>(static_cast<std::size_t>(shape.pairs()), value)};
}

std::span<const double> Reward::at(Step h) const noexcept {
    const auto pairs = static_cast<std::size_t>(shape_.pairs());
    return std::span(values_).subspan(stationary() ? 0 : static_cast<std::size_t>(h) * pairs, pairs);
}

}  // namespace alidade
