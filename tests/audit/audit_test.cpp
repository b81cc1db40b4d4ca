#include "alidade/audit/audit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "alidade/certify/deviation.hpp"
#include "alidade/confidence/learned_rows.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

namespace alidade::audit_test {
namespace {

const support::RandomSizes sizes{.shape = {5, 2, 4}, .features = 3, .successors = 3};

TEST(Audit, FindsNoLossWhenTheModelIsTheTruth) {
    const MixtureModel truth = support::random_model(1, sizes);
    const AuditResult result = audit(support::knowledge_about(truth, 1, 10), truth, {.climb_steps = 100});
    EXPECT_NEAR(result.max_gap, 0, 1e-12);
    EXPECT_EQ(result.violations, 0);
    EXPECT_TRUE(result.truth_in_confidence_set);
    EXPECT_EQ(result.rewards, 240 + 100);
}

TEST(Audit, LossIsThatOfTheExactPlan) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(2, sizes), 2, 1);
    const MixtureModel truth = support::adversarial_truth(knowledge, 3);
    Stream random = support::test_stream(4);
    const Reward reward = support::random_reward(random, sizes.shape);
    const Policy plan = backward_induction(knowledge.mixture().model(), reward).policy;
    EXPECT_DOUBLE_EQ(true_loss(knowledge.mixture(), truth, reward),
                     backward_induction(truth, reward).value - evaluate(truth, plan, reward).value);
}

TEST(Audit, SearchRaisesTheLargestLossAndStaysBelowTheCertificate) {
    double raised = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, 1);
        const MixtureModel truth = support::adversarial_truth(knowledge, seed);
        const double before = audit(knowledge, truth, {.rewards = 30, .climb_steps = 0}).max_gap;
        const AuditResult after = audit(knowledge, truth, {.rewards = 30, .climb_steps = 300});
        EXPECT_GE(after.max_gap, before);
        EXPECT_LE(after.max_gap, knowledge.certificate.bound);
        EXPECT_EQ(after.violations, 0);
        raised += after.max_gap - before;
    }
    EXPECT_GT(raised, 0);
}

TEST(Audit, SeesACertificateThatIsTooSmall) {
    Knowledge knowledge = support::knowledge_about(support::random_model(3, sizes), 3, 0);
    const MixtureModel truth = support::adversarial_truth(knowledge, 8);
    knowledge.certificate.bound = 1e-6;
    const AuditResult result = audit(knowledge, truth, {.climb_steps = 200});
    EXPECT_GT(result.max_gap, 1e-6);
    EXPECT_GT(result.violations, 0);
}

TEST(Audit, DoesNotDependOnThreads) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(4, sizes), 4, 1);
    const MixtureModel truth = support::adversarial_truth(knowledge, 9);
    const AuditResult one = audit(knowledge, truth, {.climb_steps = 50, .threads = 1});
    const AuditResult two = audit(knowledge, truth, {.climb_steps = 50, .threads = 2});
    EXPECT_EQ(one.max_gap, two.max_gap);
    EXPECT_EQ(one.mean_gap, two.mean_gap);
    EXPECT_EQ(one.mean_bound, two.mean_bound);
}

TEST(Audit, RefusesBadOptions) {
    const MixtureModel truth = support::random_model(1, sizes);
    const Knowledge knowledge = support::knowledge_about(truth, 1, 1);
    EXPECT_THROW(audit(knowledge, truth, {.rewards = 0}), InvalidArgument);
    EXPECT_THROW(audit(knowledge, truth, {.threads = 0}), InvalidArgument);
    const MixtureModel other = support::random_model(1, {.shape = {6, 2, 4}, .features = 3, .successors = 3});
    EXPECT_THROW(audit(knowledge, other), InvalidArgument);
}

TEST(Audit, ExaminesRowsLikeWeights) {
    const support::RandomSizes four_states{.shape = {4, 2, 4}, .features = 2, .successors = 4};
    const MixtureModel truth = support::random_model(3, four_states);
    // Rows half of the way to the uniform law, with twice the distance as radius.
    std::vector<double> laws, radii;
    for (Step h = 0; h < 4; ++h)
        for (Index pair = 0; pair < 8; ++pair) {
            double distance = 0;
            for (const double p : truth.probabilities(h, pair)) {
                const auto m = static_cast<double>(truth.probabilities(h, pair).size());
                laws.push_back(0.5 * p + 0.5 / m);
                distance += std::abs(laws.back() - p) / 2;
            }
            if (h < 3) radii.push_back(2 * distance);
        }
    const auto learned = std::make_shared<const LearnedRows>(
        TransitionModel(truth.shared_successors(), 4, truth.start(), laws), false, radii, 0.1);
    const AuditResult result =
        audit({learned, certify_reward_free(*learned, DeviationTable::of(*learned)), 0}, truth,
              {.rewards = 30, .climb_steps = 100});
    EXPECT_EQ(result.violations, 0);
    EXPECT_TRUE(result.truth_in_confidence_set);
    EXPECT_NEAR(result.depth, 0.5, 1e-9);
    EXPECT_GT(result.max_gap, 0);
}

}  // namespace
}  // namespace alidade::audit_test
