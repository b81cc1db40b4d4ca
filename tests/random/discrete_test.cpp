#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "random/goodness_of_fit.hpp"

namespace alidade::discrete_test {
namespace {

using goodness_of_fit::expect_counts;
using goodness_of_fit::expect_law;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Uniform, HasTheUniformLaw) {
    Stream random(1, Purpose::test);
    std::vector<double> sample(1'000'000);
    for (double& u : sample) u = sample_uniform(random);
    expect_law(sample, [](double x) { return x; });
}

TEST(Uniform, IsAMultipleOfTheGridBelowOne) {
    Stream random(2, Purpose::test);
    bool odd = false;
    for (int i = 0; i < 1000; ++i) {
        const double u = sample_uniform(random);
        const double multiple = u * 0x1p53;
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        ASSERT_EQ(multiple, std::floor(multiple));
        odd = odd || std::fmod(multiple, 2) == 1;
    }
    EXPECT_TRUE(odd);  // All even: odds 2^-1000.
}

TEST(SampleIndex, IsUniform) {
    Stream random(3, Purpose::test);
    for (const Index count : {2, 7, 100}) {
        std::vector<std::int64_t> counts(static_cast<std::size_t>(count));
        for (int i = 0; i < 300'000; ++i) ++counts.at(static_cast<std::size_t>(sample_index(random, count)));
        expect_counts(counts, std::vector<double>(counts.size(), 1 / static_cast<double>(count)));
    }
}

TEST(SampleIndex, HasNoBiasWhereAPlainRemainderWould) {
    // 2^64 = 2 * range + 2^62: plain remainders would give the three parts 3/8, 3/8 and 2/8.
    constexpr Index part = Index{1} << 61;
    Stream random(4, Purpose::test);
    std::vector<std::int64_t> counts(3);
    for (int i = 0; i < 100'000; ++i) {
        ++counts.at(static_cast<std::size_t>(sample_index(random, 3 * part) / part));
    }
    expect_counts(counts, {1.0 / 3, 1.0 / 3, 1.0 / 3});
}

TEST(SampleIndex, OfOneIsZero) {
    Stream random(5, Purpose::test);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(sample_index(random, 1), 0);
}

TEST(SampleIndex, RefusesAnEmptyRange) {
    Stream random(6, Purpose::test);
    EXPECT_THROW(sample_index(random, 0), InvalidArgument);
    EXPECT_THROW(sample_index(random, -3), InvalidArgument);
}

TEST(Categorical, HasTheLawOfItsWeights) {
    const std::vector<double> weights = {0, 2, 0, 0.5, 1e-3, 4, 0, 0.25, 0};
    double total = 0;
    for (const double w : weights) total += w;
    std::vector<double> probabilities;
    for (const double w : weights) probabilities.push_back(w / total);
    Stream random(7, Purpose::test);
    std::vector<std::int64_t> counts(weights.size());
    for (int i = 0; i < 1'000'000; ++i) {
        ++counts.at(static_cast<std::size_t>(sample_categorical(random, weights)));
    }
    expect_counts(counts, probabilities);
}

TEST(Categorical, NeverReturnsAZeroWeight) {
    const std::vector<std::vector<double>> hard = {
        {0, 1, 0},           {0, 5e-324, 0},           {0, 0.1, 0, 0.2, 0, 0.7, 0}, {0, 5e-324, 5e-324, 0},
        {0, 1e308, 0},       {0, 1, 1e-17, 0},         {0, 1e-300, 0, 1e-300, 0},   {0, 1e-17, 1, 0, 0},
        {0, 3e-310, 0, 0.0}, {0, 0.3, 0, 0.3, 0, -0.0}};
    Stream random(8, Purpose::test);
    for (const auto& weights : hard) {
        for (int i = 0; i < 10'000; ++i) {
            ASSERT_GT(weights.at(static_cast<std::size_t>(sample_categorical(random, weights))), 0);
        }
    }
}

TEST(Categorical, RefusesBadWeights) {
    const std::vector<std::vector<double>> bad = {{},       {0},           {0, 0},        {1, -0.1},
                                                  {1, nan}, {1, infinity}, {1e308, 1e308}};
    Stream random(9, Purpose::test);
    for (const auto& weights : bad) EXPECT_THROW(sample_categorical(random, weights), InvalidArgument);
}

}  // namespace
}  // namespace alidade::discrete_test
