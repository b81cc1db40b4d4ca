#include "alidade/random/binomial_law.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace alidade::binomial_law_test {
namespace {

/// log f(k+1)/f(k), exactly.
double log_ratio(std::int64_t trials, double p, std::int64_t k) {
    return std::log(static_cast<double>(trials - k) / static_cast<double>(k + 1) * (p / (1 - p)));
}

TEST(BinomialLaw, LogMassFollowsTheRecurrenceOverTheWholeRange) {
    for (const std::int64_t trials : {20, 33, 100, 2047, 2048, 5000}) {
        for (const double p : {0.5, 0.37, 0.1, 0.01}) {
            const detail::BinomialLaw law(trials, p);
            for (std::int64_t k = 0; k < trials; ++k) {
                // The masses themselves reach exp(-25000): 1e-13 of that is allowed.
                const double allowed = 1e-12 + 1e-13 * std::abs(law.log_mass(k));
                ASSERT_NEAR(law.log_mass(k + 1) - law.log_mass(k), log_ratio(trials, p, k), allowed)
                    << trials << " trials of probability " << p << ", k = " << k;
            }
        }
    }
}

TEST(BinomialLaw, LogMassAddsUpFarFromTheMode) {
    // Summing the ratios over many steps shows a drift that single steps hide.
    constexpr std::int64_t trials = 100'000'000;
    constexpr std::int64_t mode = 30'000'000;
    const detail::BinomialLaw law(trials, 0.3);
    double sum = 0;
    for (std::int64_t k = mode; k < mode + 40'000; ++k) sum += log_ratio(trials, 0.3, k);
    EXPECT_NEAR(law.log_mass(mode + 40'000) - law.log_mass(mode), sum, 1e-9);
}

TEST(BinomialLaw, LogMassIsTheNormalParabolaAtTheLargestTrials) {
    // At p = 1/2 and j = k - n/2 the log mass is -2 j^2/n up to terms of order j^4/n^3 and 1/n; rounding
    // of numbers beyond 2^53 would show here.
    constexpr std::int64_t trials = std::int64_t{1} << 62;
    const detail::BinomialLaw law(trials, 0.5);
    for (const std::int64_t j : {std::int64_t{1} << 28, std::int64_t{1} << 30, std::int64_t{3'000'000'001}}) {
        const double expected = -2 * static_cast<double>(j) * static_cast<double>(j) / 0x1p62;
        EXPECT_NEAR(law.log_mass(trials / 2 + j) - law.log_mass(trials / 2), expected, 1e-13);
        EXPECT_NEAR(law.log_mass(trials / 2 - j) - law.log_mass(trials / 2), expected, 1e-13);
    }
}

TEST(BinomialLaw, KeepsTheMeanBeyondTheDigitsOfADouble) {
    // n p = (2^62 - 1) / 4 = 2^60 - 1/4.
    const detail::BinomialLaw law((std::int64_t{1} << 62) - 1, 0.25);
    EXPECT_EQ(static_cast<double>(law.base - (std::int64_t{1} << 60)) + law.fraction, -0.25);
}

}  // namespace
}  // namespace alidade::binomial_law_test
