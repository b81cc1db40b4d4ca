#include "alidade/certify/second_order.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/learned_models.hpp"
#include "support/members.hpp"

namespace alidade::second_order_test {
namespace {

/// delta_h . phi_e(s,a) from its definition, e(s') = sum_k delta_k . M_k(s'), M in `sums`: states x sets x d.
double second_order_term(const LearnedMixture& learned, const MixtureModel& truth, Step h, Index pair,
                         Index first, const std::vector<double>& sums) {
    const FeatureMap& features = learned.model().features();
    const Index d = features.features(), sets = static_cast<Index>(learned.sets().size());
    const auto delta = [&](Index set) -> Vector {
        return truth.weights(set) - learned.sets()[static_cast<std::size_t>(set)].weights();
    };
    double total = 0;
    for (Index entry = features.first_entry(pair); entry < features.first_entry(pair + 1); ++entry) {
        const Index target = features.targets()[static_cast<std::size_t>(entry)];
        double error = 0;
        for (Index set = first; set < sets; ++set)
            error += delta(set).dot(Eigen::Map<const Vector>(sums.data() + (target * sets + set) * d, d));
        total +=
            error * delta(learned.set_index(h)).dot(Eigen::Map<const Vector>(features.phi(entry).data(), d));
    }
    return total;
}

double bound_at(detail::SecondOrder& second_order, Step h, Index pair) {
    detail::SecondOrder::Scratch scratch;
    detail::SecondOrder::Form form;
    second_order.form(h, pair, scratch, form);
    return second_order.bound(form);
}

TEST(SecondOrder, BoundsTheTermForEveryMember) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Stream random = support::test_stream(seed, 70);
        const support::RandomSizes sizes{.shape = {4, 2, 2 + sample_index(random, 4)},
                                         .features = 1 + sample_index(random, 5),
                                         .successors = 3,
                                         .homogeneous = seed % 4 == 0};
        const MixtureModel model = support::random_model(random, sizes);
        const double information = std::pow(10.0, static_cast<double>(seed % 7));
        const LearnedMixture learned = seed % 3 == 2
                                           ? support::likelihood_model(model, random, information)
                                           : support::knowledge_about(model, seed, information).mixture();
        const auto sets = static_cast<Index>(learned.sets().size());
        std::vector<double> sums(static_cast<std::size_t>(4 * sets * sizes.features));
        for (double& number : sums) number = sample_normal(random);
        detail::SecondOrder bound(learned);
        for (Step h = 0; h + 1 < sizes.shape.horizon; ++h) {
            const Index first = learned.homogeneous() ? 0 : h + 1;
            bound.prepare(first, sums);
            for (int k = 0; k < 6; ++k) {
                const MixtureModel truth = support::random_member(learned, random, k == 5);
                for (Index pair = 0; pair < sizes.shape.pairs(); ++pair) {
                    const double most = bound_at(bound, h, pair);
                    const double term = std::abs(second_order_term(learned, truth, h, pair, first, sums));
                    EXPECT_LE(term, most + 1e-15) << "seed " << seed;
                    if (most > 1e-12) tightest = std::max(tightest, term / most);
                }
            }
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    EXPECT_GT(tightest, 0.9);
}

// The term of one action less that of a mixture of actions: as one form, never above the forms one by one.
TEST(SecondOrder, BoundsDifferencesForEveryMember) {
    double tightest = 0, gained = 1;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Stream random = support::test_stream(seed, 71);
        const support::RandomSizes sizes{.shape = {4, 3, 2 + sample_index(random, 4)},
                                         .features = 1 + sample_index(random, 5),
                                         .successors = 3,
                                         .homogeneous = seed % 4 == 0};
        const MixtureModel model = support::random_model(random, sizes);
        const LearnedMixture learned =
            support::likelihood_model(model, random, std::pow(10.0, static_cast<double>(seed % 7)));
        std::vector<double> sums(learned.sets().size() * static_cast<std::size_t>(4 * sizes.features));
        for (double& number : sums) number = sample_normal(random);
        detail::SecondOrder bound(learned);
        const double share = seed % 2 == 0 ? 1 : sample_uniform(random);
        for (Step h = 0; h + 1 < sizes.shape.horizon; ++h) {
            const Index first = learned.homogeneous() ? 0 : h + 1;
            bound.prepare(first, sums);
            for (State s = 0; s < 4; ++s) {
                const Index a = sizes.shape.pair(s, 0), b = sizes.shape.pair(s, 1),
                            c = sizes.shape.pair(s, 2);
                detail::SecondOrder::Scratch scratch;
                detail::SecondOrder::Form difference, other;
                bound.form(h, a, scratch, difference);
                bound.form(h, b, scratch, other);
                difference.add(-share, other);
                bound.form(h, c, scratch, other);
                difference.add(share - 1, other);
                const double most = bound.bound(difference);
                const double apart = bound_at(bound, h, a) + share * bound_at(bound, h, b) +
                                     (1 - share) * bound_at(bound, h, c);
                // Singular values are taken from above, which is not quite subadditive.
                EXPECT_LE(most, 1.2 * apart + 1e-12);
                if (apart > 1e-12) gained = std::min(gained, most / apart);
                for (int k = 0; k < 6; ++k) {
                    const MixtureModel truth = support::random_member(learned, random, k == 5);
                    const auto term = [&](Index pair) {
                        return second_order_term(learned, truth, h, pair, first, sums);
                    };
                    const double exact = std::abs(term(a) - share * term(b) - (1 - share) * term(c));
                    EXPECT_LE(exact, most + 1e-15) << "seed " << seed;
                    if (most > 1e-12) tightest = std::max(tightest, exact / most);
                }
            }
        }
    }
    EXPECT_GT(tightest, 0.9);
    EXPECT_LT(gained, 0.6);
}

TEST(SecondOrder, IsZeroWhereNothingIsLeftToLearn) {
    const support::RandomSizes sizes{.shape = {3, 2, 4}, .features = 1, .successors = 2};
    const LearnedMixture learned = support::knowledge_about(support::random_model(1, sizes), 1, 0).mixture();
    const std::vector<double> sums(static_cast<std::size_t>(3 * 3), 1.0);
    detail::SecondOrder bound(learned);
    bound.prepare(1, sums);
    EXPECT_EQ(bound_at(bound, 0, 0), 0);
}

// What all successors have in common is cancelled by rows that sum to one.
TEST(SecondOrder, IsZeroWhereAllSuccessorsAreAlike) {
    const support::RandomSizes sizes{.shape = {4, 2, 3}, .features = 3, .successors = 3};
    const LearnedMixture learned = support::knowledge_about(support::random_model(2, sizes), 2, 10).mixture();
    const auto sets = static_cast<std::size_t>(learned.sets().size());
    std::vector<double> sums;
    for (int s = 0; s < 4; ++s)
        for (std::size_t i = 0; i < sets * 3; ++i) sums.push_back(static_cast<double>(i) - 1.5);
    detail::SecondOrder bound(learned);
    bound.prepare(1, sums);
    for (Index pair = 0; pair < 8; ++pair) EXPECT_NEAR(bound_at(bound, 0, pair), 0, 1e-14);
}

}  // namespace
}  // namespace alidade::second_order_test
