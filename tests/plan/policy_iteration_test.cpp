#include "alidade/plan/policy_iteration.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "plan/line.hpp"
#include "support/random_models.hpp"

namespace alidade::policy_iteration_test {
namespace {

const Shape shape{9, 3, 6};

TEST(PolicyIteration, NoSweepMakesThePolicyWorseAnywhere) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed);
        const MixtureModel model =
            support::random_model(random, {.shape = shape, .start_law = seed % 2 == 0});
        const Reward reward = support::random_sparse_reward(random, shape, 0.3);
        const Policy start = seed % 3 == 0 ? support::random_stochastic_policy(random, shape)
                                           : support::random_deterministic_policy(random, shape);
        Matrix values = evaluate(model, start, reward).values;
        for (Index sweeps = 1; sweeps <= shape.horizon; ++sweeps) {
            const Plan plan = detail::PolicyIterationPlanner(start, sweeps).plan(model, reward);
            const Matrix better = evaluate(model, plan.policy, reward).values;
            EXPECT_GE((better - values).minCoeff(), -1e-14) << "seed " << seed << ", sweep " << sweeps;
            values = better;
        }
    }
}

TEST(PolicyIteration, SweepKMakesTheLastKStepsOptimal) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 2);
        const MixtureModel model = support::random_model(random, {.shape = shape});
        const Reward reward = support::random_reward(random, shape);
        const Matrix optimal = backward_induction(model, reward).values;
        for (Index sweeps = 1; sweeps <= shape.horizon; ++sweeps) {
            const Plan plan = detail::PolicyIterationPlanner(std::nullopt, sweeps).plan(model, reward);
            const Matrix values = evaluate(model, plan.policy, reward).values;
            for (Step h = shape.horizon - sweeps; h < shape.horizon; ++h)
                EXPECT_LE((optimal.row(h) - values.row(h)).maxCoeff(), 1e-14) << "sweep " << sweeps;
        }
    }
}

TEST(PolicyIteration, AnEarlyStopClaimsNoMoreThanIsTrue) {
    bool stopped_short = false;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 3);
        const MixtureModel model =
            support::random_model(random, {.shape = shape, .start_law = seed % 2 == 0});
        const Reward reward = support::random_sparse_reward(random, shape, 0.1);
        const double optimal = backward_induction(model, reward).value;
        for (const Index sweeps : {1, 2, 3}) {
            const Plan plan = detail::PolicyIterationPlanner(std::nullopt, sweeps).plan(model, reward);
            EXPECT_LE(optimal - evaluate(model, plan.policy, reward).value, plan.claimed_accuracy + 1e-14);
            stopped_short = stopped_short || plan.claimed_accuracy > 0.01;
        }
        EXPECT_EQ(detail::PolicyIterationPlanner().plan(model, reward).claimed_accuracy, 0);
    }
    EXPECT_TRUE(stopped_short);
}

TEST(PolicyIteration, AnOptimalStartIsKeptEvenAmongTies) {
    // All actions are equally good, so any policy is optimal and none is strictly better.
    Stream random = support::test_stream(4);
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Policy start = support::random_deterministic_policy(random, shape);
    EXPECT_EQ(detail::PolicyIterationPlanner(start).plan(model, Reward::constant(shape, 0)).policy, start);
    const Reward reward = support::random_reward(random, shape);
    const Policy optimal = backward_induction(model, reward).policy;
    EXPECT_EQ(detail::PolicyIterationPlanner(optimal).plan(model, reward).policy, optimal);
}

TEST(PolicyIteration, RefusesNegativeSweepsAndOtherShapes) {
    EXPECT_THROW(detail::PolicyIterationPlanner(std::nullopt, -1), InvalidArgument);
    const TransitionModel model = testing::line(4, 6);
    EXPECT_THROW(
        detail::PolicyIterationPlanner(Policy::uniform(shape)).plan(model, testing::line_reward(4, 6)),
        InvalidArgument);
}

}  // namespace
}  // namespace alidade::policy_iteration_test
