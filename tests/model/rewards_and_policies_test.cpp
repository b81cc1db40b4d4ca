#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"

namespace alidade::rewards_and_policies_test {
namespace {

const Shape shape{2, 3, 2};

TEST(Reward, IsReadByStepStateAndAction) {
    std::vector<double> values(12, 0.0);
    values[6 + 3 + 1] = 0.5;  // step 1, state 1, action 1
    const Reward reward(shape, values);
    EXPECT_EQ(reward.at(1, 1, 1), 0.5);
    EXPECT_EQ(reward.at(0, 1, 1), 0.0);
    EXPECT_FALSE(reward.stationary());
    const Reward same(shape, {0, 0.1, 0.2, 0.3, 0.4, 0.5});
    EXPECT_TRUE(same.stationary());
    EXPECT_EQ(same.at(1, 1, 2), 0.5);
}

TEST(Reward, NamesTheValueOutsideItsRange) {
    std::vector<double> values(12, 0.0);
    values[9] = 1.5;
    try {
        Reward(shape, values);
        FAIL();
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "reward of step 1, state 1, action 0 is 1.5; must be from 0 to 1");
    }
    EXPECT_THROW(Reward(shape, std::vector<double>(12, -0.1)), InvalidArgument);
    EXPECT_THROW(Reward(shape, std::vector<double>(12, std::nan(""))), InvalidArgument);
    EXPECT_THROW(Reward(shape, std::vector<double>(5, 0.0)), InvalidArgument);
    EXPECT_THROW(Reward({0, 1, 1}, {}), InvalidArgument);
}

TEST(Policy, IsAnActionOrALaw) {
    const Policy fixed = Policy::deterministic(shape, {0, 1, 2, 0});
    EXPECT_EQ(fixed.action(1, 0), 2);
    EXPECT_EQ(fixed.probability(1, 0, 2), 1);
    EXPECT_EQ(fixed.probability(1, 0, 1), 0);
    const Policy uniform = Policy::uniform(shape);
    EXPECT_FALSE(uniform.is_deterministic());
    EXPECT_DOUBLE_EQ(uniform.probability(1, 1, 2), 1.0 / 3);
}

TEST(Policy, RefusesActionsAndLawsThatDoNotFit) {
    EXPECT_THROW(Policy::deterministic(shape, {0, 1, 3, 0}), InvalidArgument);
    EXPECT_THROW(Policy::deterministic(shape, {0, -1, 2, 0}), InvalidArgument);
    EXPECT_THROW(Policy::deterministic(shape, {0, 1, 2}), InvalidArgument);
    std::vector<double> law(12, 1.0 / 3);
    law[4] = 0.5;
    EXPECT_THROW(Policy::stochastic(shape, law), InvalidArgument);
    law[4] = std::nan("");
    EXPECT_THROW(Policy::stochastic(shape, law), InvalidArgument);
    EXPECT_THROW(Policy::stochastic(shape, std::vector<double>(11, 1.0 / 3)), InvalidArgument);
}

}  // namespace
}  // namespace alidade::rewards_and_policies_test
