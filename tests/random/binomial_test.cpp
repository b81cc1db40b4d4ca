#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "random/goodness_of_fit.hpp"
#include "support/effort.hpp"

namespace alidade::binomial_test {
namespace {

using goodness_of_fit::binomial_masses;
using goodness_of_fit::expect_counts;
using goodness_of_fit::expect_law;
using goodness_of_fit::normal_law;
using goodness_of_fit::poisson_masses;

void expect_binomial(std::uint64_t seed, std::int64_t trials, double p, std::int64_t last, int draws) {
    SCOPED_TRACE(testing::Message() << trials << " trials of probability " << p);
    draws = support::repetitions(draws);
    Stream random(seed, Purpose::test);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(last) + 1);
    for (int i = 0; i < draws; ++i) {
        const std::int64_t k = sample_binomial(random, trials, p);
        ASSERT_GE(k, 0);
        ASSERT_LE(k, trials);
        ++counts.at(static_cast<std::size_t>(k));
    }
    expect_counts(counts, binomial_masses(trials, p, last));
}

TEST(Binomial, HasTheMassesCountedByHand) {
    Stream random(1, Purpose::test);
    std::vector<std::int64_t> counts(5);
    for (int i = 0; i < 400'000; ++i) ++counts.at(static_cast<std::size_t>(sample_binomial(random, 4, 0.5)));
    expect_counts(counts, {1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16});
    counts.assign(3, 0);
    for (int i = 0; i < 400'000; ++i) ++counts.at(static_cast<std::size_t>(sample_binomial(random, 2, 0.9)));
    expect_counts(counts, {0.01, 0.18, 0.81});
}

TEST(Binomial, HasItsLawForSmallMeans) {
    expect_binomial(11, 1, 0.3, 1, 400'000);
    expect_binomial(12, 10, 0.3, 10, 400'000);
    expect_binomial(13, 19, 0.5, 19, 400'000);
    expect_binomial(14, 10, 0.93, 10, 400'000);
    expect_binomial(15, 1000, 0.0159, 1000, 400'000);
    expect_binomial(16, 1'000'000, 2e-6, 1000, 400'000);
}

TEST(Binomial, HasItsLawForLargeMeans) {
    expect_binomial(21, 33, 0.5, 33, 1'000'000);
    expect_binomial(22, 40, 0.41, 40, 1'000'000);
    expect_binomial(23, 40, 0.59, 40, 1'000'000);
    expect_binomial(24, 1000, 0.0161, 1000, 1'000'000);
    expect_binomial(25, 1000, 0.1, 1000, 1'000'000);
    expect_binomial(26, 2047, 0.5, 2047, 1'000'000);
    expect_binomial(27, 2049, 0.7, 2049, 1'000'000);
    expect_binomial(28, 1'000'000, 0.05, 1'000'000, 1'000'000);
    // Mean 100; the mass beyond 1000 is below exp(-100) (100 e / 1000)^1000 < 1e-600 [Chernoff].
    expect_binomial(29, 10'000'000'000, 1e-8, 1000, 1'000'000);
}

TEST(Binomial, HasItsLawForAHundredMillionTrials) {
    // The recurrence runs over 3e7 +- 1e5, more than 21 deviations; the rest has mass below 1e-90.
    constexpr std::int64_t trials = 100'000'000;
    constexpr std::int64_t origin = 29'900'000;
    constexpr std::int64_t cell = 500;
    constexpr int cells = 400;
    std::vector<double> mass(cells * cell);
    const std::size_t mode = 100'000;
    mass[mode] = 1;
    const auto n = static_cast<double>(trials);
    for (std::size_t i = mode; i + 1 < mass.size(); ++i) {
        const double k = static_cast<double>(origin) + static_cast<double>(i);
        mass[i + 1] = mass[i] * ((n - k) / (k + 1)) * (0.3 / 0.7);
    }
    for (std::size_t i = mode; i > 0; --i) {
        const double k = static_cast<double>(origin) + static_cast<double>(i);
        mass[i - 1] = mass[i] * (k / (n - k + 1)) * (0.7 / 0.3);
    }
    std::vector<double> probabilities(cells);
    double total = 0;
    for (std::size_t i = 0; i < mass.size(); ++i) {
        probabilities[i / static_cast<std::size_t>(cell)] += mass[i];
        total += mass[i];
    }
    for (double& q : probabilities) q /= total;

    Stream random(31, Purpose::test);
    std::vector<std::int64_t> counts(cells);
    for (int i = 0; i < 1'000'000; ++i) {
        const std::int64_t k = sample_binomial(random, trials, 0.3);
        ++counts.at(static_cast<std::size_t>((k - origin) / cell));
    }
    expect_counts(counts, probabilities);
}

TEST(Binomial, IsNormalAtTheLargestTrials) {
    // The mean 2^62 * 3/8 is an integer, so the deviation is exact. The distance from the normal law is
    // below 0.5 / deviation < 1e-9 [Berry-Esseen].
    constexpr std::int64_t trials = std::int64_t{1} << 62;
    for (const double p : {0.5, 0.375, 0.625}) {
        const auto mean = static_cast<std::int64_t>(static_cast<double>(trials) * p);
        const double deviation = std::sqrt(static_cast<double>(trials) * p * (1 - p));
        Stream random(32, Purpose::test);
        std::vector<double> sample(support::repetitions<std::size_t>(1'000'000));
        bool odd = false;
        for (double& x : sample) {
            const std::int64_t k = sample_binomial(random, trials, p);
            odd = odd || k % 2 == 1;
            x = static_cast<double>(k - mean) / deviation;
        }
        EXPECT_TRUE(odd) << "counts keep their last bit";
        expect_law(sample, normal_law, 1e-9);
    }
}

TEST(Binomial, HasItsLawWhenSuccessIsAlmostCertain) {
    // n = 2^62 - 1 and p = 1 - 2^-53: the failures are Poisson(512) up to a total variation of
    // 1 - p = 1.2e-16 [Barbour and Hall 1984] and a shift of the mean by 2^-53.
    constexpr std::int64_t trials = (std::int64_t{1} << 62) - 1;
    Stream random(33, Purpose::test);
    std::vector<std::int64_t> counts(1025);
    for (int i = 0; i < 1'000'000; ++i) {
        ++counts.at(static_cast<std::size_t>(trials - sample_binomial(random, trials, 1 - 0x1p-53)));
    }
    // The Poisson masses by recurrence from the mode, as exp(-512) loses digits.
    std::vector<double> mass(counts.size());
    mass[512] = 1;
    for (std::size_t k = 512; k + 1 < mass.size(); ++k)
        mass[k + 1] = mass[k] * 512 / static_cast<double>(k + 1);
    for (std::size_t k = 512; k > 0; --k) mass[k - 1] = mass[k] * static_cast<double>(k) / 512;
    const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
    for (double& m : mass) m /= total;
    expect_counts(counts, mass);
}

TEST(Binomial, IsPoissonForRareSuccesses) {
    // Total variation from Poisson(4) at most p = 2^-60 [Barbour and Hall 1984].
    Stream random(34, Purpose::test);
    std::vector<std::int64_t> counts(60);
    for (int i = 0; i < 400'000; ++i) {
        ++counts.at(static_cast<std::size_t>(sample_binomial(random, std::int64_t{1} << 62, 0x1p-60)));
    }
    expect_counts(counts, poisson_masses(4, 59));
}

TEST(Binomial, OfCertaintiesIsCertain) {
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    Stream random(35, Purpose::test);
    for (const std::int64_t trials : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, huge}) {
        EXPECT_EQ(sample_binomial(random, trials, 0), 0);
        EXPECT_EQ(sample_binomial(random, trials, 1), trials);
    }
    EXPECT_EQ(sample_binomial(random, 0, 0.5), 0);
    EXPECT_EQ(sample_binomial(random, 1000, 5e-324), 0);
    // All of 2^63 - 1 trials: within 12 deviations with odds 1e-32.
    const std::int64_t half = sample_binomial(random, huge, 0.5);
    EXPECT_NEAR(static_cast<double>(half - huge / 2), 0, 12 * 0.5 * std::sqrt(0x1p63));
}

TEST(Binomial, RefusesBadArguments) {
    Stream random(36, Purpose::test);
    EXPECT_THROW(sample_binomial(random, -1, 0.5), InvalidArgument);
    EXPECT_THROW(sample_binomial(random, 1, -0.1), InvalidArgument);
    EXPECT_THROW(sample_binomial(random, 1, 1.0000001), InvalidArgument);
    EXPECT_THROW(sample_binomial(random, 1, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

}  // namespace
}  // namespace alidade::binomial_test
