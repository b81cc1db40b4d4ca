#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "random/goodness_of_fit.hpp"

namespace alidade::multinomial_test {
namespace {

using goodness_of_fit::binomial_masses;
using goodness_of_fit::expect_counts;
using goodness_of_fit::expect_mean;
using goodness_of_fit::poisson_masses;

TEST(Multinomial, HasItsJointLawForFewTrials) {
    // All splits of 4 trials over weights 1 : 2 : 5, by listing the 3^4 outcomes.
    const std::vector<double> weights = {1, 2, 5};
    std::vector<double> probabilities(25);
    for (int outcome = 0; outcome < 81; ++outcome) {
        std::array<std::size_t, 3> split{};
        double probability = 1;
        for (int trial = 0, rest = outcome; trial < 4; ++trial, rest /= 3) {
            const auto cell = static_cast<std::size_t>(rest % 3);
            ++split[cell];
            probability *= weights[cell] / 8;
        }
        probabilities[split[0] * 5 + split[1]] += probability;
    }
    Stream random(1, Purpose::test);
    std::vector<std::int64_t> observed(25);
    std::vector<std::int64_t> counts(3);
    for (int i = 0; i < 1'000'000; ++i) {
        sample_multinomial(random, 4, weights, counts);
        ASSERT_EQ(counts[0] + counts[1] + counts[2], 4);
        ++observed.at(static_cast<std::size_t>(counts[0] * 5 + counts[1]));
    }
    expect_counts(observed, probabilities);
}

TEST(Multinomial, HasBinomialMarginalsAndTheirCovariance) {
    const std::vector<double> weights = {0.05, 0, 0.4, 0.1, 0.25, 0.2, 0};
    constexpr std::int64_t trials = 200;
    constexpr int draws = 300'000;
    const std::size_t cells = weights.size();
    std::vector<std::vector<std::int64_t>> marginals(cells, std::vector<std::int64_t>(trials + 1));
    std::vector<double> products(cells * cells);
    std::vector<std::int64_t> counts(cells);
    Stream random(2, Purpose::test);
    for (int draw = 0; draw < draws; ++draw) {
        sample_multinomial(random, trials, weights, counts);
        ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), trials);
        for (std::size_t i = 0; i < cells; ++i) {
            ++marginals[i].at(static_cast<std::size_t>(counts[i]));
            for (std::size_t j = 0; j < i; ++j) {
                products[i * cells + j] += static_cast<double>(counts[i] * counts[j]);
            }
        }
    }
    constexpr auto n = static_cast<double>(trials);
    for (std::size_t i = 0; i < cells; ++i) {
        if (weights[i] == 0) {
            EXPECT_EQ(marginals[i][0], draws);
            continue;
        }
        expect_counts(marginals[i], binomial_masses(trials, weights[i], trials));
        for (std::size_t j = 0; j < i; ++j) {
            // A product of two counts is at most n^2 / 4; its expectation is n (n - 1) p_i p_j.
            const double scale = n * n / 4;
            expect_mean(products[i * cells + j] / draws / scale,
                        n * (n - 1) * weights[i] * weights[j] / scale, draws);
        }
    }
}

TEST(Multinomial, SumOfTwoCellsIsBinomial) {
    // Fixes the covariance more sharply than the mean of products does.
    const std::vector<double> weights = {0.3, 0.2, 0.4, 0.1};
    std::vector<std::int64_t> sums(101);
    std::vector<std::int64_t> counts(4);
    Stream random(3, Purpose::test);
    for (int i = 0; i < 300'000; ++i) {
        sample_multinomial(random, 100, weights, counts);
        ++sums.at(static_cast<std::size_t>(counts[0] + counts[2]));
    }
    expect_counts(sums, binomial_masses(100, 0.7, 100));
}

TEST(Multinomial, KeepsRareCellsBesideACommonOne) {
    // 1 + 1e-18 rounds to 1: a sampler that subtracts from the total would lose the last two cells. Their
    // counts are Poisson(1) and Poisson(3) up to a total variation of 3e-18 [Barbour and Hall 1984].
    const std::vector<double> weights = {1, 1e-18, 0, 3e-18};
    constexpr std::int64_t trials = 1'000'000'000'000'000'000;
    std::vector<std::int64_t> ones(40);
    std::vector<std::int64_t> threes(40);
    std::vector<std::int64_t> counts(4);
    Stream random(4, Purpose::test);
    for (int i = 0; i < 200'000; ++i) {
        sample_multinomial(random, trials, weights, counts);
        ASSERT_EQ(counts[2], 0);
        ASSERT_EQ(counts[0] + counts[1] + counts[3], trials);
        ++ones.at(static_cast<std::size_t>(counts[1]));
        ++threes.at(static_cast<std::size_t>(counts[3]));
    }
    expect_counts(ones, poisson_masses(1, 39));
    expect_counts(threes, poisson_masses(3, 39));
}

TEST(Multinomial, SumsToTheTrialsAndSparesZeroWeights) {
    const std::vector<std::vector<double>> hard = {{1},
                                                   {0, 0, 3, 0},
                                                   {0.1, 0.2, 0.7, 0},
                                                   {1, 1e-20, 0, 1e-20, 0},
                                                   {1e-20, 1, 0},
                                                   {5e-324, 0, 5e-324, 0},
                                                   {1e307, 0, 1e307, 1e-307},
                                                   {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0, 0}};
    Stream random(5, Purpose::test);
    for (const auto& weights : hard) {
        std::vector<std::int64_t> counts(weights.size());
        for (const std::int64_t trials : {std::int64_t{0}, std::int64_t{1}, std::int64_t{17},
                                          std::int64_t{100'000}, std::int64_t{1} << 62}) {
            for (int i = 0; i < 100; ++i) {
                sample_multinomial(random, trials, weights, counts);
                ASSERT_EQ(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), trials);
                for (std::size_t cell = 0; cell < weights.size(); ++cell) {
                    ASSERT_GE(counts[cell], 0);
                    if (weights[cell] == 0) {
                        ASSERT_EQ(counts[cell], 0);
                    }
                }
            }
        }
    }
}

TEST(Multinomial, RefusesBadArguments) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Stream random(6, Purpose::test);
    std::vector<std::int64_t> counts(2);
    const std::vector<double> fair = {1, 1};
    EXPECT_THROW(sample_multinomial(random, -1, fair, counts), InvalidArgument);
    const std::vector<double> three = {1, 1, 1};
    EXPECT_THROW(sample_multinomial(random, 1, three, counts), InvalidArgument);
    EXPECT_THROW(sample_multinomial(random, 1, {}, {}), InvalidArgument);
    const std::vector<std::vector<double>> bad = {{0, 0}, {1, -1}, {nan, 1}, {1, infinity}, {1e308, 1e308}};
    for (const auto& weights : bad) {
        EXPECT_THROW(sample_multinomial(random, 1, weights, counts), InvalidArgument);
    }
}

}  // namespace
}  // namespace alidade::multinomial_test
