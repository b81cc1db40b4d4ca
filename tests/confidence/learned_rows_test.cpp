#include "alidade/confidence/learned_rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"
#include "support/learned_row_balls.hpp"

namespace alidade::learned_rows_test {
namespace {

/// One state that leads to `law` over states 0, 1, ..., once.
LearnedRows one_row(const std::vector<double>& law, double radius, Index horizon = 2,
                    bool homogeneous = false) {
    const auto states = static_cast<Index>(law.size());
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> targets;
    std::vector<double> laws;
    for (State s = 0; s < states; ++s) {
        for (State t = 0; t < states; ++t) targets.push_back(static_cast<std::int32_t>(t));
        laws.insert(laws.end(), law.begin(), law.end());
        offsets.push_back(static_cast<std::int64_t>(targets.size()));
    }
    const auto map = std::make_shared<const SuccessorMap>(states, 1, offsets, targets);
    std::vector<double> radii(at(confidence_sets(horizon, homogeneous) * states), radius);
    return LearnedRows(TransitionModel(map, horizon, StartLaw(0), laws), homogeneous, radii, 0.1);
}

TEST(LearnedRows, ExpectationsAreTheExtremesOverTheBall) {
    int cut = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Stream random = support::test_stream(seed, 300);
        const support::RandomSizes sizes{
            .shape = {5, 2, 3}, .features = 1, .successors = 1 + sample_index(random, 5)};
        const LearnedRows learned = support::random_rows(random, sizes, seed % 2 == 0 ? 1.0 : 0.2);
        const auto bounds = learned.expectations();
        std::vector<double> value(5);
        for (double& v : value) v = 4 * sample_uniform(random) - 2;
        if (seed % 3 == 0) value[1] = value[3];
        for (Step h = 0; h < 2; ++h)
            for (Index pair = 0; pair < sizes.shape.pairs(); ++pair) {
                std::vector<double> at_successors;
                for (const std::int32_t target : learned.model().successors().targets(pair))
                    at_successors.push_back(value[at(target)]);
                const auto [least, most] = support::extremes_over_ball(
                    learned.model().probabilities(h, pair), at_successors, learned.radius(h, pair));
                const Interval found = (*bounds)(h, pair, value);
                EXPECT_NEAR(found.lower, least, 1e-12) << "seed " << seed;
                EXPECT_NEAR(found.upper, most, 1e-12) << "seed " << seed;
                cut +=
                    most - least < std::ranges::max(at_successors) - std::ranges::min(at_successors) - 1e-9;
            }
    }
    EXPECT_GT(cut, 1000);
}

TEST(LearnedRows, GiveMassToSuccessorsThatWereNotSeen) {
    const LearnedRows learned = one_row({1, 0}, 0.25);
    const auto bounds = learned.expectations();
    EXPECT_NEAR((*bounds)(0, 0, std::vector{0.0, 1.0}).upper, 0.25, 1e-14);
    EXPECT_EQ((*bounds)(0, 0, std::vector{0.0, 1.0}).lower, 0);
    EXPECT_NEAR((*bounds)(0, 0, std::vector{1.0, 0.0}).lower, 0.75, 1e-14);
    EXPECT_EQ((*bounds)(0, 0, std::vector{1.0, 0.0}).upper, 1);
    // Nothing comes after the last step.
    EXPECT_EQ((*bounds)(1, 0, std::vector{1.0, 1.0}).upper, 0);
}

TEST(LearnedRows, KeepNumbersThatEndAboveZero) {
    const LearnedRows learned = one_row({1, 0}, 1e-3);
    const double tiny = std::numeric_limits<double>::denorm_min();
    EXPECT_GT((*learned.expectations())(0, 0, std::vector{0.0, tiny}).upper, 0);
    EXPECT_EQ((*learned.expectations())(0, 0, std::vector{0.0, 0.0}).upper, 0);
}

// The law farthest from (0.5, 0.3, 0.2) is (0, 0, 1), at 0.8.
TEST(LearnedRows, VaryNoMoreThanTheirSuccessorsAllow) {
    for (const double radius : {0.0, 0.3, 0.9})
        for (const double found : one_row({0.5, 0.3, 0.2}, radius).variations())
            EXPECT_NEAR(found, std::min(radius, 0.8), 1e-14);
    for (const double found : one_row({1.0}, 1).variations()) EXPECT_EQ(found, 0);
}

TEST(LearnedRows, KnowWhichTruthsAreLeft) {
    const LearnedRows learned = one_row({0.5, 0.5}, 0.2), known = one_row({0.5, 0.5}, 0);
    const TransitionModel near = one_row({0.65, 0.35}, 0).model(), far = one_row({0.75, 0.25}, 0).model();
    EXPECT_NEAR(learned.depth(near), 0.75, 1e-12);
    EXPECT_NEAR(learned.depth(far), 1.25, 1e-12);
    EXPECT_TRUE(learned.contains(near));
    EXPECT_FALSE(learned.contains(far));
    EXPECT_EQ(known.depth(known.model()), 0);
    EXPECT_TRUE(known.contains(known.model()));
    EXPECT_FALSE(known.contains(near));
    EXPECT_EQ(known.depth(near), std::numeric_limits<double>::infinity());
    EXPECT_THROW(learned.contains(one_row({0.5, 0.5}, 0, 3).model()), InvalidArgument);
    // A state that cannot follow, however small the distance: of (0, 1) or (1, 0) a pair has only the first.
    const auto only = std::make_shared<const SuccessorMap>(2, 1, std::vector<std::int64_t>{0, 1, 2},
                                                           std::vector<std::int32_t>{0, 0});
    const LearnedRows narrow(TransitionModel(only, 2, StartLaw(0), {1, 1}), false, {1, 1}, 0.1);
    EXPECT_FALSE(narrow.contains(near));
    EXPECT_EQ(narrow.depth(near), std::numeric_limits<double>::infinity());
}

TEST(LearnedRows, ContainTheirMembers) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Stream random = support::test_stream(seed, 301);
        const support::RandomSizes sizes{
            .shape = {4, 2, 4}, .features = 2, .successors = 3, .homogeneous = seed % 3 == 0};
        const LearnedRows learned = support::random_rows(random, sizes, 0.5);
        const TransitionModel truth = support::member_of(learned, random);
        EXPECT_TRUE(learned.contains(truth)) << "seed " << seed;
        EXPECT_LE(learned.depth(truth), 1 + 1e-9) << "seed " << seed;
        std::vector<double> value(4);
        for (double& v : value) v = sample_uniform(random);
        for (Step h = 0; h < 3; ++h)
            for (Index pair = 0; pair < 8; ++pair) {
                const Interval range = (*learned.expectations())(h, pair, value);
                EXPECT_GE(truth.expect(h, pair, value), range.lower - 1e-15);
                EXPECT_LE(truth.expect(h, pair, value), range.upper + 1e-15);
            }
    }
}

// One base model, so that its weights are known and all that is left is the misspecification. A mixture
// spreads it over all states, rows over the successors: equal where these are all and hold enough mass.
TEST(LearnedRows, AreTheMisspecificationOfAMixtureOfOne) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Stream random = support::test_stream(seed, 302);
        const support::RandomSizes sizes{
            .shape = {4, 2, 3}, .features = 1, .successors = seed % 2 == 0 ? 4 : 2, .concentration = 5};
        const MixtureModel model = support::random_model(random, sizes);
        const double off = 0.01 + 0.3 * sample_uniform(random);
        const ConfidenceSet known(ParameterSet::simplex(1), estimate_with(Vector(0), Matrix(0, 0)), 1);
        const LearnedMixture mixture(model.shared_features(), 3, model.start(), false, {known, known}, 0.1,
                                     off);
        const LearnedRows rows(model, false, std::vector<double>(16, off), 0.1);
        std::vector<double> value(4);
        for (double& v : value) v = sample_uniform(random);
        const auto worst = static_cast<std::size_t>(std::ranges::min_element(value) - value.begin());
        for (Index pair = 0; pair < 8; ++pair) {
            const Interval one = (*mixture.expectations())(0, pair, value);
            const Interval other = (*rows.expectations())(0, pair, value);
            EXPECT_LE(one.lower, other.lower + 1e-12) << "seed " << seed;
            EXPECT_GE(one.upper, other.upper - 1e-12) << "seed " << seed;
            EXPECT_LE(rows.variations()[at(pair)], mixture.variations()[at(pair)]);
            if (seed % 2 == 0 && model.probabilities(0, pair)[worst] >= off) {
                EXPECT_NEAR(one.upper, other.upper, 1e-12);
            }
        }
    }
}

TEST(LearnedRows, MayShareOneTableForAllSteps) {
    const LearnedRows pooled = one_row({0.5, 0.5}, 0.2, 5, true);
    EXPECT_EQ(pooled.uncertain_steps(), 1);
    EXPECT_EQ(pooled.variations().size(), 2u);
    const std::vector<double> value{0, 1};
    for (Step h = 0; h < 4; ++h) EXPECT_NEAR((*pooled.expectations())(h, 1, value).upper, 0.7, 1e-14);
    EXPECT_EQ((*pooled.expectations())(4, 1, value).upper, 0);
}

TEST(LearnedRows, RefuseTablesThatAreNone) {
    const TransitionModel model = one_row({0.5, 0.5}, 0).model();
    EXPECT_NO_THROW(LearnedRows(model, false, {0.1, 0.1}, 0.1));
    EXPECT_THROW(LearnedRows(model, false, {0.1}, 0.1), InvalidArgument);
    EXPECT_THROW(LearnedRows(model, false, {0.1, -0.1}, 0.1), InvalidArgument);
    EXPECT_THROW(LearnedRows(model, false, {0.1, 1.1}, 0.1), InvalidArgument);
    EXPECT_THROW(LearnedRows(model, false, {0.1, std::nan("")}, 0.1), InvalidArgument);
    EXPECT_THROW(LearnedRows(model, false, {0.1, 0.1}, 1), InvalidArgument);
    // Rows that are off by what files may be off.
    EXPECT_THROW(one_row({0.5, 0.5 + 5e-9}, 0.1), InvalidArgument);
    Stream random = support::test_stream(1, 303);
    const support::RandomSizes sizes{.shape = {3, 1, 3}, .features = 1, .successors = 2};
    const TransitionModel stepwise = support::random_rows(random, sizes, 0.5).model();
    EXPECT_THROW(LearnedRows(stepwise, true, {0.1, 0.1, 0.1}, 0.1), InvalidArgument);
}

TEST(LearnedRows, SayWhatTheyCannotAnswer) {
    const LearnedRows learned = one_row({0.5, 0.5}, 0.2);
    EXPECT_FALSE(learned.divergence_refusal().empty());
    EXPECT_THROW(learned.divergences(Divergence::kl), InvalidArgument);
    EXPECT_EQ(learned.mixture(), nullptr);
    EXPECT_THROW(learned.as_mixture("a table of weights"), InvalidArgument);
}

}  // namespace
}  // namespace alidade::learned_rows_test
