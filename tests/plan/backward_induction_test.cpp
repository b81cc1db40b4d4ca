#include "alidade/plan/backward_induction.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "alidade/error.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"

namespace alidade::backward_induction_test {
namespace {

double value_by_paths(const MixtureModel& model, const Policy& policy, const Reward& reward) {
    double value = 0;
    support::for_each_path(model, policy, [&](const Episode& path, double probability) {
        double earned = 0;
        for (std::size_t h = 0; h < path.states.size(); ++h) {
            earned += reward.at(static_cast<Step>(h), path.states[h], path.actions[h]);
        }
        value += probability * earned;
    });
    return value;
}

/// The best value of all deterministic policies, each evaluated path by path.
double best_of_all_policies(const MixtureModel& model, const Reward& reward) {
    const Shape& shape = model.shape();
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon * shape.states), 0);
    double best = 0;
    while (true) {
        best = std::max(best, value_by_paths(model, Policy::deterministic(shape, actions), reward));
        std::size_t digit = 0;
        while (digit < actions.size() && ++actions[digit] == shape.actions) actions[digit++] = 0;
        if (digit == actions.size()) return best;
    }
}

TEST(BackwardInduction, FindsTheBestOfAllDeterministicPolicies) {
    const std::vector<Shape> shapes{{2, 2, 3}, {3, 2, 2}, {2, 3, 2}, {2, 2, 4}, {1, 3, 3}, {3, 2, 1}};
    for (std::uint64_t seed = 0; seed < 36; ++seed) {
        const Shape shape = shapes[seed % shapes.size()];
        Stream random = support::test_stream(seed);
        const MixtureModel model =
            support::random_model(random, {.shape = shape,
                                           .features = 2,
                                           .successors = std::min<Index>(2, shape.states),
                                           .start_law = seed % 4 == 1,
                                           .homogeneous = seed % 4 == 2});
        const Reward reward = seed % 3 == 0 ? support::random_sparse_reward(random, shape, 0.3)
                                            : support::random_reward(random, shape);
        const OptimalPlan plan = backward_induction(model, reward);
        EXPECT_NEAR(plan.value, best_of_all_policies(model, reward), 1e-13) << "seed " << seed;
        EXPECT_NEAR(plan.value, value_by_paths(model, plan.policy, reward), 1e-13) << "seed " << seed;
    }
}

TEST(BackwardInduction, ValuesLieBetweenZeroAndTheStepsLeft) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{12, 4, 7};
        const MixtureModel model = support::random_model(random, {.shape = shape, .successors = 5});
        const Matrix values = backward_induction(model, support::random_reward(random, shape)).values;
        ASSERT_EQ(values.rows(), shape.horizon + 1);
        ASSERT_EQ(values.cols(), shape.states);
        for (Step h = 0; h <= shape.horizon; ++h) {
            EXPECT_GE(values.row(h).minCoeff(), 0);
            EXPECT_LE(values.row(h).maxCoeff(), static_cast<double>(shape.horizon - h) + 1e-12);
        }
    }
}

TEST(BackwardInduction, ValuesSatisfyTheBellmanEquationThatThePolicyAttains) {
    Stream random = support::test_stream(5);
    const Shape shape{15, 3, 6};
    const MixtureModel model = support::random_model(random, {.shape = shape, .successors = 6});
    const Reward reward = support::random_reward(random, shape);
    const OptimalPlan plan = backward_induction(model, reward);
    for (Step h = 0; h < shape.horizon; ++h) {
        for (State s = 0; s < shape.states; ++s) {
            double best = 0;
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                double q = reward.at(h, s, a);
                for (Index i = 0; i < model.features().successors(pair); ++i) {
                    const auto at = static_cast<std::size_t>(i);
                    q += model.probabilities(h, pair)[at] *
                         plan.values(h + 1, model.features().targets(pair)[at]);
                }
                best = std::max(best, q);
                if (plan.policy.action(h, s) == a) {
                    EXPECT_NEAR(q, plan.values(h, s), 1e-13);
                }
            }
            EXPECT_NEAR(best, plan.values(h, s), 1e-13);
        }
    }
}

TEST(BackwardInduction, TakesTheFirstOfEquallyGoodActions) {
    const Shape shape{6, 3, 4};
    const MixtureModel model = support::random_model(1, {.shape = shape});
    const OptimalPlan nothing = backward_induction(model, Reward::constant(shape, 0));
    EXPECT_EQ(nothing.value, 0);
    EXPECT_EQ(nothing.policy.actions(), std::vector<std::int32_t>(24, 0));

    // At the last step nothing follows, so actions with the same reward tie exactly.
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()), 0.25);
    for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 0.125;
    const OptimalPlan tied = backward_induction(model, Reward(shape, values));
    for (State s = 0; s < shape.states; ++s) EXPECT_EQ(tied.policy.action(shape.horizon - 1, s), 1);
}

TEST(BackwardInduction, ConstantRewardEarnsItAtEveryStep) {
    const Shape shape{9, 2, 8};
    const MixtureModel model = support::random_model(2, {.shape = shape, .start_law = true});
    EXPECT_NEAR(backward_induction(model, Reward::constant(shape, 0.5)).value, 4.0, 1e-13);
}

TEST(BackwardInduction, RefusesARewardOfAnotherShape) {
    const MixtureModel model = support::random_model(3, {.shape = {5, 3, 4}});
    EXPECT_THROW(backward_induction(model, Reward::constant({5, 3, 5}, 1)), InvalidArgument);
    EXPECT_THROW(backward_induction(model, Reward::constant({5, 2, 4}, 1)), InvalidArgument);
}

}  // namespace
}  // namespace alidade::backward_induction_test
