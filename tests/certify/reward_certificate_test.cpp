#include "alidade/certify/reward_certificate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/plan/planner.hpp"
#include "support/learned_models.hpp"

namespace alidade::reward_certificate_test {
namespace {

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 4, .successors = 4, .start_law = true};

/// The worst policy of a model: optimal for the opposite reward.
Policy worst_policy(const MixtureModel& model, const Reward& reward) {
    std::vector<double> opposite;
    for (Step h = 0; h < model.shape().horizon; ++h)
        for (const double r : reward.at(h)) opposite.push_back(1 - r);
    return backward_induction(model, Reward(model.shape(), opposite)).policy;
}

// T10 [theory §4]: L <= V^pi <= U^pi, V* <= U, loss <= bound, for exact, inexact, random and worst policies.
TEST(RewardCertificate, HoldsForEveryMemberAndPoliciesFromAnywhere) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        const MixtureModel& model = knowledge.mixture().model();
        Stream random = support::test_stream(seed, 5);
        const Reward reward = support::random_reward(random, sizes.shape);
        const std::vector<Policy> policies = {make_planner("backward-induction")->plan(model, reward).policy,
                                              make_planner("lookahead")->plan(model, reward).policy,
                                              support::random_stochastic_policy(random, sizes.shape),
                                              Policy::uniform(sizes.shape), worst_policy(model, reward)};
        for (const Policy& policy : policies) {
            const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
            for (std::uint64_t k = 0; k < 5; ++k) {
                const MixtureModel truth = support::adversarial_truth(knowledge, 100 * seed + k);
                const double value = evaluate(truth, policy, reward).value;
                const double best = backward_induction(truth, reward).value;
                EXPECT_GE(value, certificate.value.lower) << "seed " << seed;
                EXPECT_LE(value, certificate.value.upper) << "seed " << seed;
                EXPECT_LE(best, certificate.optimal_upper) << "seed " << seed;
                EXPECT_LE(best - value, certificate.loss_bound) << "seed " << seed;
            }
        }
    }
}

// T10, the other half: the plain bound is within the model recursion's error on both sides.
TEST(RewardCertificate, IsNeverMuchLooserThanTheRewardFreeOne) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        const MixtureModel& model = knowledge.mixture().model();
        Stream random = support::test_stream(seed, 6);
        const Reward reward = support::random_reward(random, sizes.shape);
        const Policy policy = support::random_stochastic_policy(random, sizes.shape);
        const double shortfall =
            backward_induction(model, reward).value - evaluate(model, policy, reward).value;
        const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
        EXPECT_LE(certificate.loss_bound, knowledge.certificate.bound + shortfall + 1e-7) << "seed " << seed;
        ASSERT_EQ(certificate.methods.size(), 4u);
        EXPECT_EQ(certificate.methods[0].first, "plain");
        EXPECT_EQ(certificate.methods[1].first, "advantage");
        EXPECT_EQ(certificate.methods[2].first, "gap");
        EXPECT_EQ(certificate.methods[3].first, "reward-free");
    }
}

TEST(RewardCertificate, IsTightWhenTheModelIsKnown) {
    // One base model: every interval closes onto the value, up to the rounding slack.
    const MixtureModel truth = support::random_model(3, {.shape = {5, 2, 4}, .features = 1, .successors = 3});
    const Knowledge knowledge = support::knowledge_about(truth, 3, 0);
    Stream random = support::test_stream(3, 7);
    const Reward reward = support::random_reward(random, truth.shape());
    const Policy policy = support::random_stochastic_policy(random, truth.shape());
    const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
    const double value = evaluate(truth, policy, reward).value;
    EXPECT_NEAR(certificate.value.lower, value, 1e-8);
    EXPECT_NEAR(certificate.value.upper, value, 1e-8);
    EXPECT_NEAR(certificate.loss_bound, backward_induction(truth, reward).value - value, 1e-7);
}

TEST(RewardCertificate, RefusesOtherShapes) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(1, sizes), 1, 1);
    const Shape other{6, 3, 4};
    EXPECT_THROW(certify_reward(knowledge, Reward::constant(other, 0), Policy::uniform(sizes.shape)),
                 InvalidArgument);
    EXPECT_THROW(certify_reward(knowledge, Reward::constant(sizes.shape, 0), Policy::uniform(other)),
                 InvalidArgument);
}

void expect_same(const RewardCertificate& one, const RewardCertificate& other) {
    EXPECT_EQ(one.value.lower, other.value.lower);
    EXPECT_EQ(one.value.upper, other.value.upper);
    EXPECT_EQ(one.optimal_upper, other.optimal_upper);
    EXPECT_EQ(one.loss_bound, other.loss_bound);
    EXPECT_EQ(one.vacuous, other.vacuous);
    EXPECT_EQ(one.methods, other.methods);
    EXPECT_EQ(one.failure_probability, other.failure_probability);
}

TEST(RewardBatch, GivesWhatEachRewardGivesAloneForAnyNumberOfThreads) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(8, sizes), 8, 100);
    Stream random = support::test_stream(8, 8);
    std::vector<RewardQuestion> questions;
    for (int i = 0; i < 17; ++i) {
        const Reward reward = support::random_sparse_reward(random, sizes.shape, 0.3);
        questions.push_back({reward, i % 3 == 0
                                         ? support::random_stochastic_policy(random, sizes.shape)
                                         : backward_induction(knowledge.mixture().model(), reward).policy});
    }
    for (const int threads : {1, 2, 4}) {
        const auto batch = certify_rewards(knowledge, questions, threads);
        ASSERT_EQ(batch.size(), questions.size());
        for (std::size_t i = 0; i < batch.size(); ++i)
            expect_same(batch[i], certify_reward(knowledge, questions[i].reward, questions[i].policy));
    }
    EXPECT_TRUE(certify_rewards(knowledge, {}, 2).empty());
}

TEST(RewardBatch, RefusesAQuestionOfAnotherShapeAndNoThreads) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(1, sizes), 1, 1);
    const Shape other{6, 3, 4};
    const std::vector<RewardQuestion> good(2,
                                           {Reward::constant(sizes.shape, 0), Policy::uniform(sizes.shape)});
    std::vector<RewardQuestion> bad = good;
    bad.push_back({Reward::constant(other, 0), Policy::uniform(other)});
    for (const int threads : {1, 2}) EXPECT_THROW(certify_rewards(knowledge, bad, threads), InvalidArgument);
    EXPECT_THROW(certify_rewards(knowledge, good, 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::reward_certificate_test
