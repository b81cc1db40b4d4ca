#include "alidade/plan/rollout.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "plan/line.hpp"
#include "support/random_models.hpp"

namespace alidade::rollout_test {
namespace {

TEST(Rollout, IsNowhereWorseThanItsBasePolicy) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{4 + static_cast<Index>(seed % 7), 3, 2 + static_cast<Index>(seed % 6)};
        const MixtureModel model =
            support::random_model(random, {.shape = shape, .homogeneous = seed % 2 == 0});
        const Reward reward = seed % 3 == 0 ? support::random_reward(random, shape)
                                            : support::random_sparse_reward(random, shape, 0.2);
        const Policy base = seed % 2 == 0 ? support::random_stochastic_policy(random, shape)
                                          : support::random_deterministic_policy(random, shape);
        const Matrix before = evaluate(model, base, reward).values;
        const Matrix optimal = backward_induction(model, reward).values;
        for (const Index depth : {1, 2, 3, 50}) {
            const Matrix after =
                evaluate(model, detail::RolloutPlanner(depth, base).plan(model, reward).policy, reward)
                    .values;
            EXPECT_GE((after - before).minCoeff(), -1e-13) << "seed " << seed << ", depth " << depth;
            EXPECT_LE((after - optimal).maxCoeff(), 1e-13) << "seed " << seed << ", depth " << depth;
        }
    }
}

TEST(Rollout, OfAllStepsIsExact) {
    Stream random = support::test_stream(8);
    const Shape shape{8, 3, 5};
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Reward reward = support::random_reward(random, shape);
    EXPECT_EQ(detail::RolloutPlanner(5).plan(model, reward).policy, backward_induction(model, reward).policy);
}

TEST(Rollout, OfOneStepFollowsTheBasePolicyAfterIt) {
    // Three states, three steps. After one step the base policy always goes right: from state 1 that earns
    // 0 at step 1 and 1 at step 2, from state 0 nothing. Staying first earns 0.1, going right 1.
    const TransitionModel model = testing::line(3, 3);
    const Policy right = Policy::deterministic(model.shape(), std::vector<std::int32_t>(9, 1));
    const Plan plan = detail::RolloutPlanner(1, right).plan(model, testing::line_reward(3, 3));
    EXPECT_EQ(plan.policy.action(0, 0), 1);
    EXPECT_NEAR(plan.claimed_value.value(), 1, 1e-14);
    // Always staying earns 0.1 a step, and one step to the right loses it: nothing better is in sight.
    const Policy stay = Policy::deterministic(model.shape(), std::vector<std::int32_t>(9, 0));
    EXPECT_NEAR(detail::RolloutPlanner(1, stay).plan(model, testing::line_reward(3, 3)).claimed_value.value(),
                0.3, 1e-14);
    EXPECT_TRUE(std::isinf(plan.claimed_accuracy));
}

TEST(Rollout, RefusesNoStepsAndOtherShapes) {
    EXPECT_THROW(detail::RolloutPlanner(0), InvalidArgument);
    EXPECT_THROW(detail::RolloutPlanner(1, Policy::uniform({5, 2, 3}))
                     .plan(testing::line(3, 3), testing::line_reward(3, 3)),
                 InvalidArgument);
}

}  // namespace
}  // namespace alidade::rollout_test
