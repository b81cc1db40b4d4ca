#include "alidade/plan/linear_program.hpp"

#include <gtest/gtest.h>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "plan/line.hpp"
#include "support/random_models.hpp"

namespace alidade::linear_program_test {
namespace {

TEST(LinearProgram, FindsTheOptimalValueAndProvesIt) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{3 + static_cast<Index>(seed % 20), 1 + static_cast<Index>(seed % 5),
                          1 + static_cast<Index>(seed % 8)};
        const MixtureModel model =
            support::random_model(random, {.shape = shape, .start_law = seed % 2 == 0, .concentration = 0.3});
        const Reward reward = seed % 3 == 0 ? support::random_sparse_reward(random, shape)
                                            : support::random_reward(random, shape);
        const Plan plan = detail::LinearProgramPlanner().plan(model, reward);
        const double optimal = backward_induction(model, reward).value;
        EXPECT_NEAR(evaluate(model, plan.policy, reward).value, optimal, 1e-9) << "seed " << seed;
        EXPECT_LE(plan.claimed_accuracy, 1e-8) << "seed " << seed;
    }
}

TEST(LinearProgram, ActsSensiblyWhereItNeverComes) {
    // From state 0 going right is best, so at the last step but one nobody is at states 0 and 1. An action
    // there that is best against the dual values still goes for what can be had: 0.1 for staying at 0.
    const TransitionModel model = testing::line(4, 6);
    const Plan plan = detail::LinearProgramPlanner().plan(model, testing::line_reward(4, 6));
    EXPECT_NEAR(plan.claimed_value.value(), 3, 1e-9);
    EXPECT_EQ(plan.policy.action(5, 0), 0);
    EXPECT_EQ(plan.policy.action(0, 0), 1);
}

TEST(LinearProgram, OneStateAndOneActionIsAProgramToo) {
    const MixtureModel model = support::random_model(1, {.shape = {1, 1, 1}, .successors = 1});
    const Plan plan = detail::LinearProgramPlanner().plan(model, Reward::constant({1, 1, 1}, 0.25));
    EXPECT_NEAR(plan.claimed_value.value(), 0.25, 1e-12);
    EXPECT_NEAR(
        detail::LinearProgramPlanner().plan(model, Reward::constant({1, 1, 1}, 0)).claimed_value.value(), 0,
        1e-12);
}

}  // namespace
}  // namespace alidade::linear_program_test
