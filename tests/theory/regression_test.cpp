#include "alidade/theory/radii.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::regression_test {
namespace {

TEST(RegressionRadius, IsTheSelfNormalisedBound) {
    // By hand: (1/2) sqrt(ln e^4 + 2 ln(1/0.025)) with log-det ratio 4 and delta 0.1 over 4 steps.
    EXPECT_NEAR(self_normalised_radius(4, failure_per_set(0.1, 4)), 0.5 * std::sqrt(4 + 2 * std::log(40.0)),
                1e-15);
}

TEST(RegressionRadius, GrowsWithInformationAndWithConfidence) {
    EXPECT_LT(self_normalised_radius(1, 0.1), self_normalised_radius(2, 0.1));
    EXPECT_LT(self_normalised_radius(1, 0.1), self_normalised_radius(1, 0.01));
    // Rounding below zero is no information, not a NaN.
    EXPECT_EQ(self_normalised_radius(-1e-17, 0.1), self_normalised_radius(0, 0.1));
}

TEST(RegressionRadius, RefusesDeltaOutsideTheOpenInterval) {
    for (const double delta : {0.0, 1.0, -0.1, 1.5, std::nan("")})
        EXPECT_THROW(failure_per_set(delta, 3), InvalidArgument) << delta;
    EXPECT_THROW(failure_per_set(0.1, 0), InvalidArgument);
}

TEST(ProjectedRadius, FollowsPythagorasAndCountsTheGap) {
    EXPECT_DOUBLE_EQ(projected_radius(5, 3, 0), 4);
    EXPECT_DOUBLE_EQ(projected_radius(5, 3, 4.5), 5);
    EXPECT_TRUE(std::isnan(projected_radius(1, 2, 0)));
}

TEST(Regularisation, IsOneQuarterForBaseModelsAndScalesOtherwise) {
    EXPECT_EQ(ridge_regularisation(0.8, true), 0.25);
    EXPECT_EQ(ridge_regularisation(2.0, false), 0.0625);
    EXPECT_DOUBLE_EQ(prior_bias(0.25, std::sqrt(1 - 1.0 / 5)), 0.5 * std::sqrt(0.8));
}

}  // namespace
}  // namespace alidade::regression_test
