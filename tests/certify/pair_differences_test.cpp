#include "alidade/certify/pair_differences.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/random/samplers.hpp"
#include "support/learned_models.hpp"
#include "support/pair_difference.hpp"

namespace alidade::pair_differences_test {
namespace {

/// By every subset of the states that either pair leads to, and by every base model.
double by_hand(const LearnedMixture& learned, Step h, Index one, Index other) {
    const FeatureMap& features = learned.model().features();
    const ConfidenceSet& set = learned.set(h);
    const auto difference = support::difference_of(features, one, other);
    const Matrix metric = set.estimate().inverse_factor * set.parameters().space().basis.transpose();
    double longest = 0, farthest = 0;
    for (std::size_t subset = 0; subset < std::size_t{1} << difference.size(); ++subset) {
        Vector sum = Vector::Zero(features.features());
        std::size_t place = 0;
        for (const auto& [target, phi] : difference)
            if ((subset >> place++ & 1) != 0) sum += phi;
        longest = std::max(longest, (metric * sum).norm());
    }
    for (Index i = 0; i < features.features(); ++i) {
        double apart = 0;
        for (const auto& [target, phi] : difference) apart += std::abs(phi[i] - phi.dot(set.weights())) / 2;
        farthest = std::max(farthest, apart);
    }
    return std::min(set.refined_radius() * longest, farthest);
}

// Twelve to sixteen successors of two pairs together, in four dimensions: more than the cheap bounds are
// exact for.
TEST(PairDifferences, AreTheLargestOverAllSubsets) {
    const MixtureModel truth =
        support::random_model(4, {.shape = {16, 2, 3}, .features = 5, .successors = 8});
    const Knowledge knowledge = support::knowledge_about(truth, 3, 300);
    const LearnedMixture& learned = knowledge.mixture("a test");
    const detail::PairDifferences step(*knowledge.learned, 0);
    detail::DifferenceWidths widths;
    Stream random = support::test_stream(1, 407);
    int looser = 0;
    for (int trial = 0; trial < 12; ++trial) {
        const Index pairs = learned.shape().pairs(), one = sample_index(random, pairs);
        const Index other = (one + 1 + sample_index(random, pairs - 1)) % pairs;
        const double expected = by_hand(learned, 0, one, other);
        const double exact = widths.exact(step, one, other), refined = widths.refined(step, one, other),
                     quick = widths.quick(step, one, other);
        EXPECT_GE(exact, expected);
        EXPECT_LE(exact, expected * (1 + 1e-8));
        EXPECT_GE(refined, exact);
        EXPECT_GE(quick, refined);
        looser += refined > 1.01 * exact ? 1 : 0;
        EXPECT_DOUBLE_EQ(widths.exact(step, other, one), exact);
    }
    EXPECT_GE(looser, 3);
}

}  // namespace
}  // namespace alidade::pair_differences_test
