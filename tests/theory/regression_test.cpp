#include "alidade/theory/radii.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::regression_test {
namespace {

TEST(RegressionRadius, IsTheSelfNormalisedBound) {
    // By hand: (1/2) sqrt(ln e^4 + 2 ln(1/0.025)) with log-det ratio 4 and delta 0.1 over 4 steps.
    EXPECT_NEAR(detail::self_normalised_radius(4, detail::failure_per_set(0.1, 4)),
                0.5 * std::sqrt(4 + 2 * std::log(40.0)), 1e-15);
}

TEST(RegressionRadius, GrowsWithInformationAndWithConfidence) {
    EXPECT_LT(detail::self_normalised_radius(1, 0.1), detail::self_normalised_radius(2, 0.1));
    EXPECT_LT(detail::self_normalised_radius(1, 0.1), detail::self_normalised_radius(1, 0.01));
    // Rounding below zero is no information, not a NaN.
    EXPECT_EQ(detail::self_normalised_radius(-1e-17, 0.1), detail::self_normalised_radius(0, 0.1));
}

TEST(RegressionRadius, RefusesDeltaOutsideTheOpenInterval) {
    for (const double delta : {0.0, 1.0, -0.1, 1.5, std::nan("")})
        EXPECT_THROW(detail::failure_per_set(delta, 3), InvalidArgument) << delta;
    EXPECT_THROW(detail::failure_per_set(0.1, 0), InvalidArgument);
}

TEST(LinearRadius, IsAUnionOverPairsOfVertices) {
    // By hand: S = 3 has 8 vertices in 4 pairs V, 1 - V; 5 sets share delta = 0.1, so each pair has 1/200.
    EXPECT_NEAR(detail::linear_radius(2, 3, 5, 0.1, 0.75), 0.75 + 0.5 * std::sqrt(2 + 2 * std::log(200.0)),
                1e-15);
    // So it is that of one V with a failure probability 2^(S-1) times smaller.
    EXPECT_NEAR(detail::linear_radius(7, 11, 1, 0.1, 0), detail::self_normalised_radius(7, 0.1 / 1024),
                1e-14);
    // 2^S is beyond what a double holds: ln(2^1999 * 10) = 1999 ln 2 + ln 10.
    EXPECT_NEAR(detail::linear_radius(0, 2000, 1, 0.1, 0),
                0.5 * std::sqrt(2 * (1999 * std::log(2.0) + std::log(10.0))), 1e-12);
}

TEST(LinearRadius, IsTheBiasAloneWhereOnlyOneStateCanFollow) {
    EXPECT_EQ(detail::linear_radius(30, 1, 4, 0.1, 0.75), 0.75);
    EXPECT_EQ(detail::linear_radius(0, 1, 1, 0.9, 0), 0);
}

TEST(LinearRadius, GrowsWithEverythingButDelta) {
    const double radius = detail::linear_radius(3, 6, 4, 0.1, 0.5);
    EXPECT_GT(detail::linear_radius(3.1, 6, 4, 0.1, 0.5), radius);
    EXPECT_GT(detail::linear_radius(3, 7, 4, 0.1, 0.5), radius);
    EXPECT_GT(detail::linear_radius(3, 6, 5, 0.1, 0.5), radius);
    EXPECT_GT(detail::linear_radius(3, 6, 4, 0.09, 0.5), radius);
    EXPECT_DOUBLE_EQ(detail::linear_radius(3, 6, 4, 0.1, 0.75), radius + 0.25);
    EXPECT_EQ(detail::linear_radius(-1e-17, 6, 4, 0.1, 0.5), detail::linear_radius(0, 6, 4, 0.1, 0.5));
}

TEST(LinearRadius, RefusesWhatIsNoSize) {
    EXPECT_THROW(detail::linear_radius(1, 0, 4, 0.1, 0.5), InvalidArgument);
    EXPECT_THROW(detail::linear_radius(1, 6, 0, 0.1, 0.5), InvalidArgument);
    EXPECT_THROW(detail::linear_radius(1, 6, 4, 0.1, -0.5), InvalidArgument);
    EXPECT_THROW(detail::linear_radius(1, 6, 4, 0.1, std::nan("")), InvalidArgument);
    // Also where nothing is random.
    for (const double delta : {0.0, 1.0, std::nan("")})
        for (const Index successors : {1, 6})
            EXPECT_THROW(detail::linear_radius(1, successors, 4, delta, 0.5), InvalidArgument) << delta;
}

TEST(ProjectedRadius, FollowsPythagorasAndCountsTheGap) {
    EXPECT_DOUBLE_EQ(detail::projected_radius(5, 3, 0), 4);
    EXPECT_DOUBLE_EQ(detail::projected_radius(5, 3, 4.5), 5);
    EXPECT_TRUE(std::isnan(detail::projected_radius(1, 2, 0)));
}

TEST(Regularisation, IsOneQuarterForBaseModelsAndScalesOtherwise) {
    EXPECT_EQ(detail::ridge_regularisation(0.8, true), 0.25);
    EXPECT_EQ(detail::ridge_regularisation(2.0, false), 0.0625);
    EXPECT_DOUBLE_EQ(detail::prior_bias(0.25, std::sqrt(1 - 1.0 / 5)), 0.5 * std::sqrt(0.8));
}

}  // namespace
}  // namespace alidade::regression_test
