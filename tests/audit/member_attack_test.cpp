#include "alidade/audit/member_attack.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

namespace alidade::member_attack_test {
namespace {

// What it finds is a member's loss, no certificate is below it, and it is far above random members' losses.
TEST(MemberAttack, FindsALossThatAMemberHas) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 3, .successors = 3};
        Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, 30);
        knowledge.certificate =
            certify_reward_free(*knowledge.learned, DeviationTable::of(*knowledge.learned));
        const LearnedMixture& learned = knowledge.mixture();
        const MemberAttack found = attack_members(knowledge, {.starts = 3, .steps = 150, .seed = seed});
        Matrix weights = learned.model().weights();
        weights.topRows(3) = found.weights;
        for (Step h = 0; h < 3; ++h)
            EXPECT_TRUE(learned.set(h).contains(found.weights.row(h).transpose())) << "seed " << seed;
        const MixtureModel truth(learned.model().shared_features(), 4, learned.model().start(), weights);
        const Policy plan = backward_induction(learned.model(), found.reward).policy;
        const double loss =
            backward_induction(truth, found.reward).value - evaluate(truth, plan, found.reward).value;
        EXPECT_NEAR(found.loss, loss, 1e-12);
        EXPECT_LE(found.loss, knowledge.certificate.bound);
        EXPECT_GE(found.tried, 450);
        double random_loss = 0;
        Stream random = support::test_stream(seed, 600);
        for (std::uint64_t k = 0; k < 100; ++k) {
            const Reward reward = support::random_reward(random, sizes.shape);
            const MixtureModel member = support::adversarial_truth(knowledge, 100 * seed + k);
            random_loss = std::max(
                random_loss,
                backward_induction(member, reward).value -
                    evaluate(member, backward_induction(learned.model(), reward).policy, reward).value);
        }
        EXPECT_GT(found.loss, random_loss) << "seed " << seed;
        EXPECT_GT(found.loss, 0.2 * knowledge.certificate.bound) << "seed " << seed;
    }
}

TEST(MemberAttack, DoesNotDependOnThreads) {
    const Knowledge knowledge = support::knowledge_about(
        support::random_model(1, {.shape = {3, 2, 3}, .features = 2, .successors = 2}), 1, 10);
    const MemberAttack one = attack_members(knowledge, {.starts = 4, .steps = 40, .threads = 1});
    const MemberAttack two = attack_members(knowledge, {.starts = 4, .steps = 40, .threads = 2});
    EXPECT_EQ(one.loss, two.loss);
    EXPECT_EQ(one.reward, two.reward);
    EXPECT_THROW(attack_members(knowledge, {.starts = 0}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::member_attack_test
