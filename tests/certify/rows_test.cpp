#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/certify/catalogue.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/certify/robust_plan.hpp"
#include "alidade/confidence/learned_rows.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"
#include "support/learned_row_balls.hpp"

/// Certificates of rows in total-variation balls.
namespace alidade::rows_test {
namespace {

support::RandomSizes small(std::uint64_t seed) {
    return {.shape = {2 + static_cast<Index>(seed % 2), 2, 3},
            .features = 1,
            .successors = 2,
            .start_law = seed % 3 == 0,
            .homogeneous = seed % 4 == 0};
}

Reward reward_number(const Shape& shape, std::uint64_t number) {
    std::vector<double> values;
    for (Index i = 0; i < shape.horizon * shape.pairs(); ++i)
        values.push_back(static_cast<double>(number >> i & 1));
    return Reward(shape, std::move(values));
}

double loss_of(const TransitionModel& truth, const Reward& reward, const Policy& policy) {
    return backward_induction(truth, reward).value - evaluate(truth, policy, reward).value;
}

// Every 0/1 reward there is (4096 or more, of which every so many are taken), and truths on the boundary.
TEST(RowCertificates, BoundTheLossUnderEveryReward) {
    double closest = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        Stream random = support::test_stream(seed, 310);
        const LearnedRows learned =
            support::random_rows(random, small(seed), std::pow(10.0, -static_cast<double>(seed % 3)));
        const Shape& shape = learned.shape();
        const RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable::of(learned));
        ASSERT_EQ(certificate.candidates.size(), 5u);
        double least = certificate.candidates.front().second;
        for (const auto& [name, bound] : certificate.candidates) least = std::min(least, bound);
        EXPECT_EQ(certificate.bound, std::min(least, static_cast<double>(shape.horizon)));
        const std::uint64_t rewards = std::uint64_t{1} << (shape.horizon * shape.pairs());
        double worst = 0;
        for (int k = 0; k < 3; ++k) {
            const TransitionModel truth = support::member_of(learned, random);
            for (std::uint64_t number = static_cast<std::uint64_t>(k); number < rewards;
                 number += rewards / 1024 + 1) {
                const Reward reward = reward_number(shape, number);
                worst = std::max(worst,
                                 loss_of(truth, reward, backward_induction(learned.model(), reward).policy));
            }
        }
        for (const auto& [name, bound] : certificate.candidates)
            EXPECT_LE(worst, bound) << name << ", " << seed;
        closest = std::max(closest, worst / std::max(1e-3, least));
    }
    // The law is not met by bounds that are far too large.
    EXPECT_GT(closest, 0.2);
}

TEST(RowCertificates, ContainTheValuesOfAnyPolicy) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 311);
        const support::RandomSizes sizes{.shape = {4, 3, 4},
                                         .features = 2,
                                         .successors = 3,
                                         .start_law = seed % 2 == 0,
                                         .homogeneous = seed % 4 == 0};
        const auto learned = std::make_shared<const LearnedRows>(
            support::random_rows(random, sizes, std::pow(10.0, -static_cast<double>(seed % 5))));
        const Knowledge knowledge{learned, certify_reward_free(*learned, DeviationTable::of(*learned)), 0};
        const Reward reward = support::random_reward(random, sizes.shape);
        for (int k = 0; k < 6; ++k) {
            const Policy policy = k % 3 == 0   ? backward_induction(learned->model(), reward).policy
                                  : k % 3 == 1 ? support::random_deterministic_policy(random, sizes.shape)
                                               : support::random_stochastic_policy(random, sizes.shape);
            const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
            const TransitionModel truth = support::member_of(*learned, random);
            const double value = evaluate(truth, policy, reward).value;
            EXPECT_GE(value, certificate.value.lower) << "seed " << seed;
            EXPECT_LE(value, certificate.value.upper) << "seed " << seed;
            EXPECT_LE(backward_induction(truth, reward).value, certificate.optimal_upper) << "seed " << seed;
            for (const auto& [name, bound] : certificate.methods)
                EXPECT_LE(loss_of(truth, reward, policy), bound + 1e-12) << name << ", seed " << seed;
        }
    }
}

// Rows do not constrain each other, so that the bounds are the extremes themselves: by a recursion over the
// vertices of every ball.
TEST(RowCertificates, AreTheExtremeValuesOfAllTruths) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 312);
        const support::RandomSizes sizes{.shape = {3, 2, 4}, .features = 1, .successors = 3};
        const LearnedRows learned = support::random_rows(random, sizes, 0.4);
        const Reward reward = support::random_reward(random, sizes.shape);
        const Policy policy = support::random_stochastic_policy(random, sizes.shape);
        const ValueBounds bounds = value_bounds(learned, reward, policy);
        std::vector<double> low(3, 0.0), high(3, 0.0), best(3, 0.0);
        for (Step h = 3; h >= 0; --h) {
            std::vector<double> low_now(3, 0.0), high_now(3, 0.0), best_now(3, 0.0);
            for (State s = 0; s < 3; ++s)
                for (Action a = 0; a < 2; ++a) {
                    const Index pair = sizes.shape.pair(s, a);
                    const auto extreme = [&](const std::vector<double>& next) -> std::pair<double, double> {
                        if (h == 3) return {0, 0};
                        std::vector<double> value;
                        for (const std::int32_t target : learned.model().successors().targets(pair))
                            value.push_back(next[at(target)]);
                        return support::extremes_over_ball(learned.model().probabilities(h, pair), value,
                                                           learned.radius(h, pair));
                    };
                    const double r = reward.at(h, s, a), weight = policy.probability(h, s, a);
                    low_now[at(s)] += weight * (r + extreme(low).first);
                    high_now[at(s)] += weight * (r + extreme(high).second);
                    best_now[at(s)] = std::max(best_now[at(s)], r + extreme(best).second);
                }
            low = low_now;
            high = high_now;
            best = best_now;
            for (State s = 0; s < 3; ++s) {
                EXPECT_NEAR(bounds.policy_lower(h, s), low[at(s)], 1e-11);
                EXPECT_NEAR(bounds.policy_upper(h, s), high[at(s)], 1e-11);
                EXPECT_NEAR(bounds.optimal_upper(h, s), best[at(s)], 1e-11);
            }
        }
    }
}

TEST(RowCertificates, AreZeroWhereEveryRowIsKnown) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Stream random = support::test_stream(seed, 313);
        const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 1, .successors = 3};
        const auto learned = std::make_shared<const LearnedRows>(support::random_rows(random, sizes, 0));
        const Knowledge knowledge{learned, certify_reward_free(*learned, DeviationTable::of(*learned)), 0};
        EXPECT_EQ(knowledge.certificate.bound, 0);
        EXPECT_FALSE(knowledge.certificate.vacuous);
        const Reward reward = support::random_reward(random, sizes.shape);
        const OptimalPlan plan = backward_induction(learned->model(), reward);
        const RewardCertificate certificate = certify_reward(knowledge, reward, plan.policy);
        EXPECT_EQ(certificate.loss_bound, 0) << "seed " << seed;
        EXPECT_NEAR(certificate.value.lower, plan.value, 1e-8);
        EXPECT_NEAR(certificate.value.upper, plan.value, 1e-8);
        EXPECT_NEAR(robust_plan(*learned, reward).price.cost(), 0, 1e-8);
    }
}

// Two states and two steps. From state 0 either action stays or goes with probability 1/2, up to 0.1; state 1
// earns 1. Action 1 earns 0.05 more at once. The policy takes action 1: its advantage over itself is nothing,
// that of action 0 at most (0.6) - (0.05 + 0.4) = 0.15. Action 0: 0.05 + 0.2 = 0.25.
TEST(RowCertificates, BoundTheAdvantageByHand) {
    const auto map = std::make_shared<const SuccessorMap>(2, 2, std::vector<std::int64_t>{0, 2, 4, 6, 8},
                                                          std::vector<std::int32_t>{0, 1, 0, 1, 0, 1, 0, 1});
    const LearnedRows learned(TransitionModel(map, 2, StartLaw(0), std::vector<double>(8, 0.5)), false,
                              std::vector<double>(4, 0.1), 0.1);
    const Shape& shape = learned.shape();
    const Reward reward(shape, {0, 0.05, 0, 0, 0, 0, 1, 1});
    const auto gap = [&](std::int32_t action) {
        const Policy policy = Policy::deterministic(shape, {action, 0, 0, 0});
        for (const auto& [name, bound] : certify_reward(learned, reward, policy).methods)
            if (name == "gap") return bound;
        return -1.0;
    };
    EXPECT_NEAR(gap(1), 0.15, 1e-7);
    EXPECT_NEAR(gap(0), 0.25, 1e-7);
    // Both actions alike in every truth but for 0.3 earned at once, which 0.2 cannot make good: optimal.
    const Reward decided(shape, {0, 0.3, 0, 0, 0, 0, 1, 1});
    EXPECT_EQ(certify_reward(learned, decided, Policy::deterministic(shape, {1, 0, 0, 0})).loss_bound, 0);
}

// Rows with the deviations of a mixture as radii leave more possible, and are certified by the same
// arguments.
TEST(RowCertificates, OfAMixturesDeviationsAreItsOwn) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const support::RandomSizes sizes{
            .shape = {5, 2, 4}, .features = 3, .successors = 5, .homogeneous = seed % 2 == 0};
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        const LearnedMixture& mixture = knowledge.mixture();
        const DeviationTable deviations = DeviationTable::of(mixture);
        const LearnedRows rows(mixture.model(), mixture.homogeneous(), mixture.variations(), 0.1);
        for (const char* name : {"model", "coupling"}) {
            const RewardFreeOptions options{.certificates = {name}};
            const double one = certify_reward_free(mixture, deviations, options).candidates.front().second;
            const double other =
                certify_reward_free(rows, DeviationTable::of(rows), options).candidates.front().second;
            EXPECT_LE(other, one) << name;
            EXPECT_GE(other, 0.8 * one) << name;
        }
    }
}

TEST(RowCertificates, AreRefusedWhereTheyNeedMore) {
    Stream random = support::test_stream(1, 314);
    const auto learned = std::make_shared<const LearnedRows>(support::random_rows(random, small(1), 0.3));
    const DeviationTable deviations = DeviationTable::of(*learned);
    for (const char* name : {"trajectory-kl", "hybrid", "ltv"})
        EXPECT_THROW(certify_reward_free(*learned, deviations, {.certificates = {name}}), InvalidArgument);
    EXPECT_THROW((Knowledge{learned, {}, 0}.mixture("an export")), InvalidArgument);
    // Deviations that are less than what the rows leave open would be false.
    EXPECT_THROW(
        certify_reward_free(*learned, DeviationTable(learned->shape().pairs(), false,
                                                     std::vector<double>(learned->variations().size(), 0.0))),
        InvalidArgument);
}

}  // namespace
}  // namespace alidade::rows_test
