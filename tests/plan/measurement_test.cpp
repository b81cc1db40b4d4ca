#include "alidade/plan/planner.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "alidade/error.hpp"
#include "plan/line.hpp"

namespace alidade::measurement_test {
namespace {

using testing::line;
using testing::line_reward;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// On a line of four states over six steps: going right is worth 3, staying 0.6.
Measurement measured(std::int32_t action, std::optional<double> value, double accuracy) {
    const TransitionModel model = line(4, 6);
    const Policy policy = Policy::deterministic(model.shape(), std::vector<std::int32_t>(24, action));
    return measure(model, line_reward(4, 6), Plan{policy, value, accuracy});
}

TEST(Measurement, IsWhatThePolicyEarnsAndLeavesOnTheTable) {
    const Measurement right = measured(1, 3.0, 0);
    EXPECT_NEAR(right.value, 3, 1e-14);
    EXPECT_NEAR(right.optimal, 3, 1e-14);
    EXPECT_NEAR(right.epsilon_opt, 0, 1e-14);
    EXPECT_GE(right.epsilon_opt, 0);
    const Measurement stay = measured(0, 0.6, infinity);
    EXPECT_NEAR(stay.value, 0.6, 1e-14);
    EXPECT_NEAR(stay.optimal, 3, 1e-14);
    EXPECT_NEAR(stay.epsilon_opt, 2.4, 1e-14);
}

TEST(Measurement, TellsTrueClaimsFromFalseOnes) {
    EXPECT_TRUE(measured(1, 3.0, 0).claims_true());
    EXPECT_TRUE(measured(1, std::nullopt, infinity).claims_true());
    EXPECT_TRUE(measured(0, 0.6, infinity).claims_true());
    EXPECT_TRUE(measured(0, std::nullopt, 2.4).claims_true());
    EXPECT_FALSE(measured(0, 0.6, 2.3).accuracy_true);
    EXPECT_FALSE(measured(0, std::nullopt, 0).accuracy_true);
    EXPECT_FALSE(measured(0, 3.0, infinity).value_true);
    EXPECT_FALSE(measured(1, 3.0 + 1e-7, 0).value_true);
    EXPECT_TRUE(measured(1, 3.0 + 1e-7, 1e-6).value_true) << "within the accuracy claimed";
    EXPECT_FALSE(measured(1, std::numeric_limits<double>::quiet_NaN(), 0).value_true);
    EXPECT_FALSE(measured(1, 3.0, std::numeric_limits<double>::quiet_NaN()).accuracy_true);
}

TEST(Measurement, RefusesOtherShapes) {
    const TransitionModel model = line(4, 6);
    EXPECT_THROW(measure(model, Reward::constant({4, 2, 5}, 0), Plan{Policy::uniform(model.shape()), 0.0, 0}),
                 InvalidArgument);
    EXPECT_THROW(measure(model, line_reward(4, 6), Plan{Policy::uniform({4, 2, 5}), 0.0, 0}),
                 InvalidArgument);
}

}  // namespace
}  // namespace alidade::measurement_test
