#include "occupancy_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace alidade::detail {

Matrix occupancy_bounds(const LearnedMixture& learned, const Policy& policy, std::optional<Action> first) {
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    const Index d = features.features();
    // For the rounding of sums of products, all of one sign, one for each pair that leads to a state: in the
    // order of the states, so that large ones may come first and swallow the others.
    const double outward =
        1 + 1e-12 + static_cast<double>(shape.pairs()) * std::numeric_limits<double>::epsilon();
    Matrix bounds = Matrix::Zero(shape.horizon, shape.states);
    for (const auto& [state, probability] : learned.model().start().atoms())
        bounds(0, state) = std::min(1.0, bounds(0, state) + probability * outward);
    // An underflow must not make a state unreachable.
    constexpr double least = std::numeric_limits<double>::denorm_min();
    Matrix arriving(d, shape.states);
    std::vector<bool> reached(static_cast<std::size_t>(shape.states));
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        arriving.setZero();
        reached.assign(reached.size(), false);
        for (State s = 0; s < shape.states; ++s) {
            for (Action a = 0; a < shape.actions; ++a) {
                const double taken =
                    h == 0 && first ? (a == *first ? 1.0 : 0.0) : policy.probability(h, s, a);
                if (bounds(h, s) == 0 || taken == 0) continue;
                const double weight = std::max(least, bounds(h, s) * taken);
                const Index pair = shape.pair(s, a);
                const auto targets = features.targets(pair);
                for (std::size_t j = 0; j < targets.size(); ++j) {
                    reached[static_cast<std::size_t>(targets[j])] = true;
                    const auto phi = features.phi(features.first_entry(pair) + static_cast<Index>(j));
                    for (Index i = 0; i < d; ++i)
                        arriving(i, targets[j]) += weight * phi[static_cast<std::size_t>(i)];
                }
            }
        }
        for (State s = 0; s < shape.states; ++s) {
            const std::span<const double> direction(arriving.col(s).data(), static_cast<std::size_t>(d));
            const double lowest = reached[static_cast<std::size_t>(s)] ? least : 0.0;
            bounds(h + 1, s) = std::clamp(learned.set(h).range(direction).upper * outward, lowest, 1.0);
        }
    }
    return bounds;
}

}  // namespace alidade::detail
