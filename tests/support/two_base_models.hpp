#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "support/learned_models.hpp"

/// A learned model of two base models as dense arrays, for recursions in plain loops. A member of a step's
/// set is theta~ + u (1, -1), u a number in an interval, so that all maxima over the set are at its ends:
/// nothing of the library's closed forms, supports, widths or singular values is needed.
namespace alidade::support {

struct TwoBaseModels {
    Index states, actions, horizon;
    /// Of every learned step: the interval of u that the set leaves, and how far the ball about theta~ alone
    /// would let it go.
    std::vector<double> least, most, reach;
    std::vector<double> law;       ///< P~(s'|s,a): steps x pairs x states
    std::vector<double> slope;     ///< P_1(s'|s,a) - P_2(s'|s,a): pairs x states
    std::vector<double> farthest;  ///< largest total variation of a base model from P~: steps x pairs
    std::vector<char> leads;       ///< whether some base model leads there: pairs x states
    double misspecification;

    explicit TwoBaseModels(const LearnedMixture& learned)
        : states(learned.shape().states),
          actions(learned.shape().actions),
          horizon(learned.shape().horizon),
          law(size((horizon - 1) * pairs() * states), 0.0),
          slope(size(pairs() * states), 0.0),
          leads(size(pairs() * states), 0),
          misspecification(learned.misspecification()) {
        const FeatureMap& features = learned.model().features();
        for (Step h = 0; h + 1 < horizon; ++h) {
            const ConfidenceSet& set = learned.set(h);
            const double here = set.weights()[0], unit = std::sqrt(2 * set.estimate().precision(0, 0));
            const double about = set.estimated_weights()[0] - here, ball = set.radius() / unit;
            reach.push_back(set.refined_radius() / unit);
            least.push_back(std::max({-here, -reach.back(), about - ball}));
            most.push_back(std::min({1 - here, reach.back(), about + ball}));
            for (Index pair = 0; pair < pairs(); ++pair) {
                double first = 0, second = 0;
                for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                    const Index target = features.targets()[size(e)];
                    const auto phi = features.phi(e);
                    const double probability = here * phi[0] + (1 - here) * phi[1];
                    law[size((h * pairs() + pair) * states + target)] = probability;
                    slope[size(pair * states + target)] = phi[0] - phi[1];
                    leads[size(pair * states + target)] = 1;
                    first += std::abs(phi[0] - probability) / 2;
                    second += std::abs(phi[1] - probability) / 2;
                }
                farthest.push_back(std::max(first, second));
            }
        }
    }

    Index pairs() const { return states * actions; }
    double probability(Step h, Index pair, State s) const {
        return law[size((h * pairs() + pair) * states + s)];
    }
    /// P~ value, and the same along the difference of the base models.
    double expect(Step h, Index pair, const std::vector<double>& value) const {
        double sum = 0;
        for (State s = 0; s < states; ++s) sum += probability(h, pair, s) * value[size(s)];
        return sum;
    }
    double change(Index pair, const std::vector<double>& value) const {
        double sum = 0;
        for (State s = 0; s < states; ++s) sum += slope[size(pair * states + s)] * value[size(s)];
        return sum;
    }
    /// The largest and the least u x over the members of a step.
    double largest(Step h, double x) const { return std::max(least[size(h)] * x, most[size(h)] * x); }
    double smallest(Step h, double x) const { return std::min(least[size(h)] * x, most[size(h)] * x); }
    /// max_C P value and min_C P value, widened by the misspecification times the value's span.
    double upper(Step h, Index pair, const std::vector<double>& value) const {
        const auto [low, high] = std::ranges::minmax(value);
        const double off = misspecification * (high - low);
        const double bound = expect(h, pair, value) + largest(h, change(pair, value)) + off;
        return misspecification > 0 ? std::min(high, bound) : bound;
    }
    double lower(Step h, Index pair, const std::vector<double>& value) const {
        const auto [low, high] = std::ranges::minmax(value);
        const double off = misspecification * (high - low);
        const double bound = expect(h, pair, value) + smallest(h, change(pair, value)) - off;
        return misspecification > 0 ? std::max(low, bound) : bound;
    }
    /// tau: the ball's total variation, cut at the farthest base model's, plus the misspecification.
    double deviation(Step h, Index pair) const {
        double variation = 0;
        for (State s = 0; s < states; ++s) variation += std::abs(slope[size(pair * states + s)]) / 2;
        const double bound = std::min(reach[size(h)] * variation, farthest[size(h * pairs() + pair)]);
        return std::min(1.0, bound + misspecification);
    }
    DeviationTable deviations() const {
        std::vector<double> values;
        for (Step h = 0; h + 1 < horizon; ++h)
            for (Index pair = 0; pair < pairs(); ++pair) values.push_back(deviation(h, pair));
        return DeviationTable(pairs(), false, std::move(values));
    }

    static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
};

/// Two random base models of three states and two actions, four steps, about which `information` is known.
/// Rows of a small concentration are sharp, and two of them far apart.
inline LearnedMixture learned_about_two(std::uint64_t seed, double information, double misspecification = 0,
                                        double concentration = 1) {
    const RandomSizes sizes{
        .shape = {3, 2, 4}, .features = 2, .successors = 3, .concentration = concentration};
    const LearnedMixture learned = knowledge_about(random_model(seed, sizes), seed, information).mixture();
    if (misspecification == 0) return learned;
    return LearnedMixture(learned.model().shared_features(), sizes.shape.horizon, learned.model().start(),
                          false, learned.sets(), learned.delta(), misspecification);
}

}  // namespace alidade::support
