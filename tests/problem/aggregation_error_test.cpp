#include "alidade/problem/aggregation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::aggregation_error_test {
namespace {

TEST(ShiftVariation, IsExactForAUniformDisturbance) {
    // Uniform on [0, 1/2]: density 2, variation 4. Shifted by 0.1, two strips of mass 0.2 do not overlap.
    EXPECT_DOUBLE_EQ(shift_variation(1, 0.1, 4), 0.2);
    EXPECT_DOUBLE_EQ(shift_variation(0.5, 0.2, 4), 0.2);
    EXPECT_EQ(shift_variation(1, 3, 4), 1);
    EXPECT_EQ(shift_variation(0, 3, 4), 0);
}

TEST(ShiftVariation, BoundsATriangularDisturbance) {
    // The symmetric triangle on [-1, 1] shifted by c <= 1: (1/2) int |f - f(.-c)| = c - c^2 / 4 by hand.
    for (const double c : {0.01, 0.1, 0.5, 1.0}) {
        const double exact = c - c * c / 4;
        EXPECT_GE(shift_variation(1, c, 2), exact);
        EXPECT_LE(shift_variation(1, c, 2), exact + c * c / 4 + 1e-15);
    }
}

TEST(SampledLawError, IsTheSumOfTheMeanAndTheExcess) {
    EXPECT_NEAR(sampled_law_error(10'000, 26, 1, 0.1), 0.025 + std::sqrt(std::log(10.0) / 20'000), 1e-15);
    EXPECT_NEAR(sampled_law_error(10'000, 26, 100, 0.1), 0.025 + std::sqrt(std::log(1000.0) / 20'000), 1e-15);
    EXPECT_EQ(sampled_law_error(1, 1000, 1, 0.1), 1);
    EXPECT_EQ(sampled_law_error(5, 1, 100, 0.1), 0);
}

TEST(AggregationFormulas, RefuseWhatHasNoMeaning) {
    EXPECT_THROW(shift_variation(-1, 1, 1), InvalidArgument);
    EXPECT_THROW(sampled_law_error(0, 2, 1, 0.1), InvalidArgument);
    EXPECT_THROW(sampled_law_error(10, 2, 1, 0), InvalidArgument);
    EXPECT_THROW(sampled_law_error(10, 2, 1, 1), InvalidArgument);
}

}  // namespace
}  // namespace alidade::aggregation_error_test
