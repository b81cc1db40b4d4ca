#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/theory/radii.hpp"

namespace alidade::weighted_regression_test {
namespace {

TEST(BennettCurvature, IsThatOfTheExponential) {
    EXPECT_NEAR(detail::bennett_curvature(0.5), 8 * (std::exp(0.5) - 1.5), 1e-14);
    EXPECT_NEAR(detail::bennett_curvature(2), (std::exp(2.0) - 3) / 2, 1e-14);
    EXPECT_NEAR(detail::bennett_curvature(1e-3), 1 + 1e-3 / 3 + 1e-6 / 12, 1e-9);
    EXPECT_THROW(detail::bennett_curvature(0), InvalidArgument);
}

// All laws on two points of mean 0: they are the extreme ones of mean 0 and bounded variance.
TEST(BennettCurvature, BoundsTheMomentsOfEveryLawOnTwoPoints) {
    double tightest = 0;
    for (const double u : {0.05, 0.5, 1.0, 3.0})
        for (double p = 0.001; p < 1; p += 0.003)
            for (const double y : {-1.0, -0.3, 0.2, 1.0}) {
                // Up by a with probability p, down by b, variance 1, scaled so that |y eta| <= u.
                const double a = std::sqrt((1 - p) / p), b = std::sqrt(p / (1 - p));
                const double t = y * u / std::max(a, b);
                const double moment = p * std::exp(t * a) + (1 - p) * std::exp(-t * b);
                const double bound = std::exp(detail::bennett_curvature(u) * t * t / 2);
                EXPECT_LE(moment, bound * (1 + 1e-12));
                tightest = std::max(tightest, std::log(moment) / std::log(bound));
            }
    EXPECT_GT(tightest, 0.99);
}

/// sqrt(2 kappa (ln det / 2 + ln(7/failure) + ln 2)).
double plain_radius(double exponent, double log_det, double failure) {
    return std::sqrt(2 * detail::bennett_curvature(exponent) * (0.5 * log_det + std::log(14 / failure)));
}

// The values of an independent derivation, for Z = 101, lambda = 1, failure 0.1 an exponent.
TEST(WeightedRadius, IsTheFormulaOfTheSmallestExponentWithoutLeverage) {
    const double values[] = {3.284143, 3.311972, 3.398322, 3.552379, 3.903464, 4.824567, 6.157428};
    const double exponents[] = {0.05, 0.1, 0.25, 0.5, 1, 2, 3};
    for (std::size_t i = 0; i < 7; ++i)
        EXPECT_NEAR(plain_radius(exponents[i], std::log(101.0), 0.7), values[i], 1e-6);
    EXPECT_NEAR(detail::weighted_radius({1, std::log(101.0), 0, 0.7}), values[0], 1e-6);
    EXPECT_NEAR(detail::weighted_radius({3, 5, 0, 0.1}), plain_radius(0.05, 5, 0.1), 1e-9);
    EXPECT_EQ(detail::weighted_radius({0, 0, 10, 0.1}), 0);
}

// A row seen once, then 1e6 elsewhere [the same derivation]: only the largest exponent leaves room for the
// whole ball about the maximiser; what is cut at a smaller one may be less, never more.
TEST(WeightedRadius, GrowsWithTheLeverage) {
    double before = 0;
    for (const double leverage : {0.0, 1e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 30.0}) {
        const double radius = detail::weighted_radius({2, 20, leverage, 0.05});
        EXPECT_GE(radius, before) << leverage;
        before = radius;
        for (const double exponent : {0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0}) {
            const double kappa = detail::bennett_curvature(exponent),
                         plain = plain_radius(exponent, 20, 0.05);
            if (leverage * (plain / kappa + std::sqrt(2 / kappa)) <= exponent) {
                EXPECT_LE(radius, plain * (1 + 1e-9)) << leverage << ", " << exponent;
            }
        }
    }
    EXPECT_LT(before, std::numeric_limits<double>::infinity());
    EXPECT_EQ(detail::weighted_radius({2, 20, std::numeric_limits<double>::infinity(), 0.05}),
              std::numeric_limits<double>::infinity());
}

// The least over exponents u, and over t and rho with leverage (t + rho) <= u, of
// kappa t/2 + (ln det/2 + ln(7/failure) - ln P(chi^2_m <= kappa rho^2))/t, by a fine grid and the exact law
// of chi^2_2: 1 - e^(-x/2). Never below it, and near it.
TEST(WeightedRadius, IsTheBestOfEveryExponentAndBall) {
    for (const double leverage : {0.01, 0.05, 0.2, 1.0}) {
        double least = std::numeric_limits<double>::infinity();
        for (const double u : {0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0}) {
            const double kappa = detail::bennett_curvature(u), longest = u / leverage;
            for (int i = 1; i < 2000; ++i) {
                const double rho = longest * i / 2000, t = longest - rho;
                const double cost = 10 + std::log(7 / 0.05) - std::log1p(-std::exp(-kappa * rho * rho / 2));
                const double best = std::min(t, std::sqrt(2 * cost / kappa));
                least = std::min(least, kappa * best / 2 + cost / best);
            }
        }
        const double radius = detail::weighted_radius({2, 20, leverage, 0.05});
        EXPECT_GE(radius, least * (1 - 1e-9)) << leverage;
        EXPECT_LE(radius, least * 1.03) << leverage;
    }
}

TEST(WeightedRadius, RefusesWhatIsNoRegression) {
    EXPECT_THROW(detail::weighted_radius({-1, 0, 0, 0.1}), InvalidArgument);
    EXPECT_THROW(detail::weighted_radius({1, -1, 0, 0.1}), InvalidArgument);
    EXPECT_THROW(detail::weighted_radius({1, 0, std::nan(""), 0.1}), InvalidArgument);
    EXPECT_THROW(detail::weighted_radius({1, 0, 0, 0}), InvalidArgument);
    EXPECT_THROW(detail::weighted_radius({1, 0, 0, 1}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::weighted_regression_test
