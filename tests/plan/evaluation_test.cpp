#include "alidade/plan/evaluation.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"

namespace alidade::evaluation_test {
namespace {

struct Case {
    MixtureModel model;
    Policy policy;
    Reward reward;
};

Case random_case(std::uint64_t seed, const Shape& shape, Index successors) {
    Stream random = support::test_stream(seed);
    MixtureModel model = support::random_model(random, {.shape = shape,
                                                        .features = 3,
                                                        .successors = successors,
                                                        .start_law = seed % 3 == 1,
                                                        .homogeneous = seed % 5 == 2,
                                                        .concentration = seed % 2 == 0 ? 1.0 : 0.3});
    Policy policy = seed % 2 == 0 ? support::random_stochastic_policy(random, shape)
                                  : support::random_deterministic_policy(random, shape);
    return Case{std::move(model), std::move(policy), support::random_reward(random, shape)};
}

TEST(Evaluation, IsTheSumOverAllPaths) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto [model, policy, reward] = random_case(seed, {4, 2, 4}, 3);
        double value = 0;
        support::for_each_path(model, policy, [&](const Episode& path, double probability) {
            for (Step h = 0; h < 4; ++h) {
                const auto at = static_cast<std::size_t>(h);
                value += probability * reward.at(h, path.states[at], path.actions[at]);
            }
        });
        EXPECT_NEAR(evaluate(model, policy, reward).value, value, 1e-12) << "seed " << seed;
    }
}

TEST(Occupancy, IsTheProbabilityOfThePathsThroughAPair) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const auto [model, policy, reward] = random_case(seed, {4, 2, 4}, 3);
        Matrix expected = Matrix::Zero(4, 8);
        support::for_each_path(model, policy, [&](const Episode& path, double probability) {
            for (Step h = 0; h < 4; ++h) {
                const auto at = static_cast<std::size_t>(h);
                expected(h, path.states[at] * 2 + path.actions[at]) += probability;
            }
        });
        EXPECT_LE((occupancy(model, policy) - expected).cwiseAbs().maxCoeff(), 1e-13) << "seed " << seed;
    }
}

TEST(Evaluation, IsOccupancyTimesReward) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Shape shape{3 + static_cast<Index>(seed % 17), 1 + static_cast<Index>(seed % 4),
                          1 + static_cast<Index>(seed % 9)};
        const auto [model, policy, reward] = random_case(seed, shape, 3);
        const Matrix mass = occupancy(model, policy);
        double value = 0;
        for (Step h = 0; h < shape.horizon; ++h) {
            for (State s = 0; s < shape.states; ++s) {
                for (Action a = 0; a < shape.actions; ++a) {
                    value += mass(h, shape.pair(s, a)) * reward.at(h, s, a);
                }
            }
        }
        EXPECT_NEAR(evaluate(model, policy, reward).value, value, 1e-12) << "seed " << seed;
    }
}

TEST(Occupancy, SumsToOneAtEveryStep) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const auto [model, policy, reward] = random_case(seed, {20, 3, 9}, 5);
        const Matrix mass = occupancy(model, policy);
        EXPECT_GE(mass.minCoeff(), 0);
        EXPECT_LE((mass.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12) << "seed " << seed;
    }
}

TEST(Evaluation, NoPolicyBeatsBackwardInductionAnywhere) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto [model, policy, reward] = random_case(seed, {10, 3, 6}, 4);
        const Matrix optimal = backward_induction(model, reward).values;
        EXPECT_LE((evaluate(model, policy, reward).values - optimal).maxCoeff(), 1e-12) << "seed " << seed;
    }
}

TEST(Evaluation, GivesTheOptimalPolicyTheOptimalValues) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const auto [model, policy, reward] = random_case(seed, {10, 3, 6}, 4);
        const OptimalPlan plan = backward_induction(model, reward);
        const Matrix values = evaluate(model, plan.policy, reward).values;
        EXPECT_LE((values - plan.values).cwiseAbs().maxCoeff(), 1e-13) << "seed " << seed;
    }
}

TEST(Evaluation, DoesNotDependOnHowAPolicyIsWritten) {
    const auto [model, policy, reward] = random_case(7, {8, 3, 5}, 4);
    ASSERT_TRUE(policy.is_deterministic());
    std::vector<double> law;
    for (const std::int32_t action : policy.actions()) {
        for (std::int32_t a = 0; a < 3; ++a) law.push_back(a == action ? 1 : 0);
    }
    const Policy same = Policy::stochastic(policy.shape(), law);
    EXPECT_EQ(evaluate(model, policy, reward).value, evaluate(model, same, reward).value);
    EXPECT_EQ(occupancy(model, policy), occupancy(model, same));
}

TEST(Evaluation, RefusesOtherShapes) {
    const auto [model, policy, reward] = random_case(0, {5, 3, 4}, 3);
    const Shape other{5, 3, 3};
    EXPECT_THROW(evaluate(model, Policy::uniform(other), reward), InvalidArgument);
    EXPECT_THROW(evaluate(model, policy, Reward::constant(other, 0)), InvalidArgument);
    EXPECT_THROW(occupancy(model, Policy::uniform(other)), InvalidArgument);
}

}  // namespace
}  // namespace alidade::evaluation_test
