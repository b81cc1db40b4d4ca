#include "occupancy_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "../model/sweep.hpp"

namespace alidade::detail {

namespace {

/// The fewest pairs that are worth a chunk, as a pair takes less than a microsecond.
constexpr Index pairs_an_occupancy = 256;
/// An underflow must not make a state unreachable.
constexpr double least_probability = std::numeric_limits<double>::denorm_min();

/// What arrives at the states of a chunk.
struct Arrivals {
    Matrix features;  ///< d x states: sum of probabilities times phi
    std::vector<char> reached;
};

void collect(Arrivals& arrivals, const FeatureMap& features, Index pair, double weight, State first,
             State last) {
    const auto [begin, end] = entries_into(features, pair, first, last);
    for (Index entry = begin; entry < end; ++entry) {
        const Index column = features.targets()[at(entry)] - first;
        arrivals.reached[at(column)] = 1;
        const auto phi = features.phi(entry);
        for (Index i = 0; i < features.features(); ++i) arrivals.features(i, column) += weight * phi[at(i)];
    }
}

}  // namespace

Matrix occupancy_bounds(const LearnedMixture& learned, const Policy& policy,
                        std::optional<Action> first_action, Threads threads) {
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
    const auto pass_on = [&](Arrivals& arrivals, Step h, State first, State last) {
        arrivals.features.setZero(d, last - first);
        arrivals.reached.assign(at(last - first), 0);
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) {
                const double taken =
                    h == 0 && first_action ? (a == *first_action ? 1.0 : 0.0) : policy.probability(h, s, a);
                if (bounds(h, s) == 0 || taken == 0) continue;
                collect(arrivals, features, shape.pair(s, a),
                        std::max(least_probability, bounds(h, s) * taken), first, last);
            }
        for (State s = first; s < last; ++s) {
            const std::span<const double> direction(arrivals.features.col(s - first).data(), at(d));
            const double lowest = arrivals.reached[at(s - first)] != 0 ? least_probability : 0.0;
            // P(s_{h+1} = s) is theta . phi summed with the probabilities of the pairs. All theta . phi are
            // >= 0, so larger probabilities make it larger, and bounds of them bound it
            // [docs/algorithms/likelihood.md, Lemma 11].
            bounds(h + 1, s) = std::clamp(learned.set(h).range(direction).upper * outward, lowest, 1.0);
        }
    };
    Sweep(shape, threads, pairs_an_occupancy)
        .forwards(
            shape.horizon - 1, [] { return Arrivals{}; }, pass_on);
    return bounds;
}

}  // namespace alidade::detail
