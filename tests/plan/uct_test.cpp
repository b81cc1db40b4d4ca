#include "alidade/plan/uct.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "plan/line.hpp"
#include "support/random_models.hpp"

namespace alidade::uct_test {
namespace {

double loss(const MixtureModel& model, const Reward& reward, const detail::UctOptions& options) {
    const Plan plan = detail::UctPlanner(options).plan(model, reward);
    return backward_induction(model, reward).value - evaluate(model, plan.policy, reward).value;
}

TEST(Uct, GetsNearTheOptimumAndNearerWithMoreSimulations) {
    double few = 0, many = 0, random_actions = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{6, 3, 4};
        const MixtureModel model = support::random_model(random, {.shape = shape, .start_law = true});
        const Reward reward = support::random_reward(random, shape);
        few += loss(model, reward, {.simulations = 3}) / 12;
        many += loss(model, reward, {.simulations = 1000}) / 12;
        random_actions += (backward_induction(model, reward).value -
                           evaluate(model, Policy::uniform(shape), reward).value) /
                          12;
    }
    EXPECT_LT(few, random_actions);
    EXPECT_LT(many, few);
    EXPECT_LT(many, 0.02);
}

TEST(Uct, IsExactAtTheLastStepOnceEveryActionWasTried) {
    Stream random = support::test_stream(5);
    const Shape shape{7, 4, 1};
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Reward reward = support::random_reward(random, shape);
    EXPECT_EQ(detail::UctPlanner({.simulations = 5, .exploration = 0}).plan(model, reward).policy,
              backward_induction(model, reward).policy);
}

TEST(Uct, TheSameSeedGivesTheSamePolicy) {
    Stream random = support::test_stream(6);
    const Shape shape{12, 4, 5};
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Reward reward = support::random_reward(random, shape);
    const auto policy = [&](std::uint64_t seed) {
        return detail::UctPlanner({.simulations = 20, .seed = seed}).plan(model, reward).policy;
    };
    EXPECT_EQ(policy(3), policy(3));
    EXPECT_NE(policy(3), policy(4));
}

TEST(Uct, ClaimsNothing) {
    const Plan plan =
        detail::UctPlanner({.simulations = 5}).plan(testing::line(3, 4), testing::line_reward(3, 4));
    EXPECT_FALSE(plan.claimed_value.has_value());
    EXPECT_TRUE(std::isinf(plan.claimed_accuracy));
}

TEST(Uct, RefusesSearchesThatCannotBe) {
    EXPECT_THROW(detail::UctPlanner({.simulations = 0}), InvalidArgument);
    EXPECT_THROW(detail::UctPlanner({.exploration = -1}), InvalidArgument);
    EXPECT_THROW(detail::UctPlanner({.exploration = std::nan("")}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::uct_test
