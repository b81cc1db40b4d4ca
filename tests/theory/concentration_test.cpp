#include "alidade/theory/radii.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::concentration_test {
namespace {

TEST(LogDetBound, IsAttainedByRowsThatShareOutTheDimensions) {
    // In one dimension the determinant is lambda + n L^2; in three, rows in turn along the axes give each
    // lambda + (n/3) L^2.
    EXPECT_NEAR(detail::log_det_bound({1, 100, 2, 0.5}), std::log(1 + 100 * 4 / 0.5), 1e-12);
    EXPECT_NEAR(detail::log_det_bound({3, 300, 2, 0.5}), 3 * std::log((0.5 + 100 * 4) / 0.5), 1e-12);
}

TEST(PotentialBound, HoldsForRepeatedRows) {
    // One direction, lambda = 1, L = 1: the sum is 1 + 1/2 + ... + 1/n.
    double sum = 0;
    for (int n = 1; n <= 1000; ++n) {
        sum += 1.0 / n;
        ASSERT_LE(sum, detail::potential_bound({1, static_cast<double>(n), 1, 1})) << n;
    }
    EXPECT_NEAR(detail::potential_bound({1, 1, 1, 1}), 2 * std::log(2.0), 1e-15);
}

TEST(RidgeRadius, IsTheFormulaOfTheorem2) {
    // By hand: 0.5 sqrt(2 ln((1 + 10 * 4 / 4)/0.05)) + 2 * 3.
    EXPECT_NEAR(detail::ridge_radius({2, 10, 2, 4}, 0.5, 3, 0.05),
                0.5 * std::sqrt(2 * std::log(11 / 0.05)) + 6, 1e-12);
}

TEST(BernsteinRadius, IsTheFormulaOfTheorem41) {
    // By hand: n = 100, d = 2, L = 1, lambda = 1: logs ln(51) and ln(4e4/0.1).
    const double level = std::log(4e5);
    EXPECT_NEAR(detail::bernstein_radius({2, 100, 1, 1}, 0.5, 3, 0.1),
                8 * 0.5 * std::sqrt(2 * std::log(51.0) * level) + 12 * level, 1e-9);
}

TEST(Azuma, BoundsTheTailOfCoinFlips) {
    // Exact tail of the sum of n fair signs, by the binomial law.
    constexpr int n = 60;
    for (const double failure : {0.5, 0.1, 0.01, 1e-4}) {
        const double deviation = detail::azuma_deviation(n, 2, failure);
        double tail = 0;
        for (int heads = 0; heads <= n; ++heads)
            if (2 * heads - n > deviation)
                tail += std::exp(std::lgamma(n + 1) - std::lgamma(heads + 1) - std::lgamma(n - heads + 1) -
                                 n * std::log(2.0));
        EXPECT_LE(tail, failure);
        EXPECT_GT(tail, failure * failure / 10) << "much too loose";
    }
    EXPECT_NEAR(detail::azuma_deviation(50, 6, std::exp(-4.0)), 6 * 10, 1e-12);
}

TEST(SwitchBound, CountsDoublingsOfADeterminant) {
    // One set in one dimension, lambda = L = 1: after n rows the determinant is 1 + n. Policies: the first,
    // and one at each doubling, at n = 1, 3, 7, ...
    int policies = 1;
    double old = 1;
    for (int n = 1; n <= 5000; ++n) {
        if (1 + n >= 2 * old) {
            ++policies;
            old = 1 + n;
        }
        ASSERT_LE(policies, detail::switch_bound({1, static_cast<double>(n), 1, 1}, 1, 1)) << n;
    }
    EXPECT_EQ(policies, 1 + 12);
    EXPECT_NEAR(detail::switch_bound({1, 4095, 1, 1}, 3, 1), 3 * 12 + 1, 1e-9);
}

TEST(Concentration, RefusesWhatMakesNoSense) {
    EXPECT_THROW(detail::log_det_bound({0, 1, 1, 1}), InvalidArgument);
    EXPECT_THROW(detail::log_det_bound({1, -1, 1, 1}), InvalidArgument);
    EXPECT_THROW(detail::log_det_bound({1, 1, 1, 0}), InvalidArgument);
    EXPECT_THROW(detail::ridge_radius({1, 1, 1, 1}, 1, 1, 0), InvalidArgument);
    EXPECT_THROW(detail::bernstein_radius({1, 0, 1, 1}, 1, 1, 0.1), InvalidArgument);
    EXPECT_THROW(detail::azuma_deviation(10, 1, 1), InvalidArgument);
    EXPECT_THROW(detail::switch_bound({1, 1, 1, 1}, 1, 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::concentration_test
