#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "random/goodness_of_fit.hpp"

namespace alidade::continuous_test {
namespace {

using goodness_of_fit::expect_law;
using goodness_of_fit::expect_mean;
using goodness_of_fit::normal_law;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Lower incomplete gamma function over the complete one: x^a e^-x sum_n x^n / Gamma(a + n + 1).
double gamma_law(double shape, double x) {
    if (x <= 0) return 0;
    double term = std::exp(shape * std::log(x) - x - std::lgamma(shape + 1));
    double sum = 0;
    for (double n = 1; term > sum * 1e-17 || n < x; ++n) {
        sum += term;
        term *= x / (shape + n);
    }
    return sum;
}

TEST(Normal, HasTheNormalLaw) {
    Stream random(1, Purpose::test);
    std::vector<double> sample(1'000'000);
    for (double& x : sample) x = sample_normal(random);
    expect_law(sample, normal_law);
}

TEST(Normal, NeighboursAreUncorrelated) {
    // The sum of two independent standard normals over sqrt(2) is standard normal.
    Stream random(2, Purpose::test);
    std::vector<double> sample(500'000);
    for (double& x : sample) {
        const double one = sample_normal(random);
        x = (one + sample_normal(random)) / std::numbers::sqrt2;
    }
    expect_law(sample, normal_law);
}

TEST(Gamma, HasItsLaw) {
    EXPECT_NEAR(gamma_law(1, 2), 1 - std::exp(-2.0), 1e-15);
    EXPECT_NEAR(gamma_law(0.5, 2), std::erf(std::sqrt(2.0)), 1e-15);
    for (const double shape : {0.02, 0.5, 0.99, 1.0, 1.01, 3.0, 60.0}) {
        SCOPED_TRACE(shape);
        Stream random(3, Purpose::test);
        std::vector<double> sample(300'000);
        for (double& x : sample) x = sample_gamma(random, shape);
        expect_law(
            sample, [shape](double x) { return gamma_law(shape, x); }, 1e-12);
    }
}

TEST(Gamma, IsFiniteForExtremeShapes) {
    Stream random(4, Purpose::test);
    for (const double shape : {5e-324, 1e-300, 1e-10, 1e10, 1e300}) {
        for (int i = 0; i < 100; ++i) {
            const double x = sample_gamma(random, shape);
            ASSERT_GE(x, 0);
            ASSERT_TRUE(std::isfinite(x));
        }
    }
}

TEST(Gamma, RefusesBadShapes) {
    Stream random(5, Purpose::test);
    for (const double shape : {0.0, -1.0, nan, infinity}) {
        EXPECT_THROW(sample_gamma(random, shape), InvalidArgument);
    }
}

/// The first coordinates of `draws` points.
std::vector<double> first_coordinates(std::uint64_t seed, const std::vector<double>& concentrations,
                                      std::size_t draws) {
    Stream random(seed, Purpose::test);
    std::vector<double> sample(draws);
    for (double& x : sample) x = sample_dirichlet(random, concentrations).front();
    return sample;
}

TEST(Dirichlet, HasBetaMarginals) {
    // Coordinate i is Beta(a_i, sum of the others): three cases with an elementary distribution function.
    expect_law(first_coordinates(6, {1, 1, 1}, 200'000), [](double x) { return 1 - (1 - x) * (1 - x); });
    expect_law(first_coordinates(7, {0.5, 0.25, 0.25}, 200'000),
               [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); });
    expect_law(first_coordinates(8, {0.3, 0.4, 0.6}, 200'000), [](double x) { return std::pow(x, 0.3); });
    expect_law(first_coordinates(9, {12, 1}, 200'000), [](double x) { return std::pow(x, 12); });
}

TEST(Dirichlet, HasItsMomentsAndSumsToOne) {
    const std::vector<double> concentrations = {0.3, 2, 0.7, 1};
    constexpr double sum = 4;
    constexpr int draws = 200'000;
    std::vector<double> mean(4);
    std::vector<double> product(16);
    Stream random(10, Purpose::test);
    for (int draw = 0; draw < draws; ++draw) {
        const std::vector<double> point = sample_dirichlet(random, concentrations);
        ASSERT_NEAR(std::accumulate(point.begin(), point.end(), 0.0), 1, 1e-15);
        for (std::size_t i = 0; i < 4; ++i) {
            ASSERT_GE(point[i], 0);
            mean[i] += point[i] / draws;
            for (std::size_t j = 0; j <= i; ++j) product[4 * i + j] += point[i] * point[j] / draws;
        }
    }
    for (std::size_t i = 0; i < 4; ++i) {
        const double a = concentrations[i];
        expect_mean(mean[i], a / sum, draws);
        expect_mean(product[4 * i + i], a * (a + 1) / (sum * (sum + 1)), draws);
        for (std::size_t j = 0; j < i; ++j) {
            expect_mean(product[4 * i + j], a * concentrations[j] / (sum * (sum + 1)), draws);
        }
    }
}

TEST(Dirichlet, IsAFairCornerForTinyConcentrations) {
    // The gamma variates can underflow for all of these, and for the last their logarithms overflow too.
    for (const double unit : {1e-3, 1e-6, 1e-100, 1e-300, 1e-307, 1e-320}) {
        SCOPED_TRACE(unit);
        const std::vector<double> concentrations = {unit, 3 * unit, 0.5 * unit};
        constexpr int draws = 100'000;
        std::vector<double> mean(3);
        Stream random(11, Purpose::test);
        for (int draw = 0; draw < draws; ++draw) {
            const std::vector<double> point = sample_dirichlet(random, concentrations);
            ASSERT_NEAR(point[0] + point[1] + point[2], 1, 1e-15);
            for (std::size_t i = 0; i < 3; ++i) {
                ASSERT_GE(point[i], 0);
                mean[i] += point[i] / draws;
            }
        }
        expect_mean(mean[0], 1 / 4.5, draws);
        expect_mean(mean[1], 3 / 4.5, draws);
        expect_mean(mean[2], 0.5 / 4.5, draws);
    }
}

TEST(Dirichlet, SymmetricFormEqualsTheGeneralOne) {
    Stream one(12, Purpose::test);
    Stream other(12, Purpose::test);
    EXPECT_EQ(sample_dirichlet(one, 5, 0.4), sample_dirichlet(other, std::vector<double>(5, 0.4)));
    EXPECT_EQ(sample_dirichlet(one, 1, 1e-3), std::vector<double>{1});
}

TEST(Dirichlet, RefusesBadConcentrations) {
    Stream random(13, Purpose::test);
    EXPECT_THROW(sample_dirichlet(random, std::vector<double>{}), InvalidArgument);
    EXPECT_THROW(sample_dirichlet(random, 0, 1.0), InvalidArgument);
    for (const double bad : {0.0, -1.0, nan, infinity}) {
        EXPECT_THROW(sample_dirichlet(random, std::vector<double>{1, bad}), InvalidArgument);
        EXPECT_THROW(sample_dirichlet(random, 3, bad), InvalidArgument);
    }
}

}  // namespace
}  // namespace alidade::continuous_test
