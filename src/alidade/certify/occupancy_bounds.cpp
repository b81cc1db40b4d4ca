#include "occupancy_bounds.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "../model/parallel.hpp"
#include "alidade/model/transition_operator.hpp"

namespace alidade::detail {

namespace {

/// The fewest states that are worth a chunk, as a set's range takes less than a microsecond.
constexpr Index states_an_occupancy = 256;
/// An underflow must not make a state unreachable.
constexpr double least_probability = std::numeric_limits<double>::denorm_min();

}  // namespace

Matrix occupancy_bounds(const LearnedMixture& learned, const Policy& policy,
                        std::optional<Action> first_action, Threads threads) {
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    const auto d = at(features.features());
    const auto passes = local_operator(features, threads);
    // Sums come from above; a product with the set's range is rounded.
    constexpr double outward = 1 + 1e-12;
    Matrix bounds = Matrix::Zero(shape.horizon, shape.states);
    for (const auto& [state, probability] : learned.model().start().atoms())
        bounds(0, state) = std::min(1.0, bounds(0, state) + probability * outward);
    std::vector<double> weight(at(shape.pairs())), arriving(at(shape.states) * d);
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) {
                const double taken =
                    h == 0 && first_action ? (a == *first_action ? 1.0 : 0.0) : policy.probability(h, s, a);
                const bool goes = bounds(h, s) > 0 && taken > 0;
                weight[at(shape.pair(s, a))] =
                    goes ? std::max(least_probability, std::min(1.0, bounds(h, s) * taken * outward)) : 0.0;
            }
        passes->apply_transpose(weight, arriving);
        in_chunks(shape.states, states_an_occupancy, threads, [&](Index first, Index last) {
            for (State s = first; s < last; ++s) {
                const auto direction = std::span(arriving).subspan(at(s) * d, d);
                const bool reached = std::ranges::any_of(direction, [](double x) { return x > 0; });
                // P(s_{h+1} = s) is theta . phi summed with the probabilities of the pairs. All theta . phi
                // are
                // >= 0, so larger probabilities make it larger, and bounds of them bound it
                // [docs/algorithms/likelihood.md, Lemma 11].
                bounds(h + 1, s) = reached ? std::clamp(learned.set(h).range(direction).upper * outward,
                                                        least_probability, 1.0)
                                           : 0.0;
            }
        });
    }
    return bounds;
}

}  // namespace alidade::detail
