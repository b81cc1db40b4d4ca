#include "alidade/certify/weighting.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/error.hpp"

namespace alidade {

Objectives::Objectives(std::vector<Reward> rewards) : rewards_(std::move(rewards)) {
    expects(
        count() >= least && count() <= most,
        "there are {} objectives; must be {} to {} (for more, the reward-free certificate holds for every "
        "reward)",
        count(), least, most);
    for (Index i = 1; i < count(); ++i)
        expects((*this)[i].shape() == shape(), "objective {} has another shape than objective 0", i);
}

Reward Objectives::weighted(std::span<const double> weights) const {
    expects(static_cast<Index>(weights.size()) == count(),
            "there are {} weights; must be {}, one an objective", weights.size(), count());
    for (const double w : weights) expects(w >= 0 && w <= 1 + 1e-9, "a weight is {}; must be from 0 to 1", w);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    expects(std::abs(sum - 1) <= 1e-9, "the weights sum to {:.12g}; must sum to 1 within 1e-9", sum);
    const bool stationary = std::ranges::all_of(rewards_, &Reward::stationary);
    const Index steps = stationary ? 1 : shape().horizon;
    const auto pairs = static_cast<std::size_t>(shape().pairs());
    std::vector<double> values(static_cast<std::size_t>(steps) * pairs, 0.0);
    for (Index i = 0; i < count(); ++i) {
        const double w = weights[static_cast<std::size_t>(i)];
        if (w == 0) continue;
        for (Step h = 0; h < steps; ++h) {
            const auto of_step = (*this)[i].at(h);
            double* const sums = values.data() + static_cast<std::size_t>(h) * pairs;
            for (std::size_t pair = 0; pair < pairs; ++pair) sums[pair] += w * of_step[pair];
        }
    }
    for (double& r : values) r = std::clamp(r, 0.0, 1.0);
    return {shape(), std::move(values)};
}

Reward complement(const Reward& reward) {
    std::vector<double> values = reward.values();
    for (double& r : values) r = 1 - r;
    return {reward.shape(), std::move(values)};
}

}  // namespace alidade
