#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <vector>

/// Tests of a sample against an exact law. Each call fails a correct sampler with odds below 1e-9 over
/// the choice of the seed.
namespace alidade::goodness_of_fit {

/// Chi-square of cell counts against cell probabilities, neighbours pooled until 100 are expected.
/// Critical value: P(chi2_k >= k + 2 sqrt(k x) + 2 x) <= exp(-x) [Laurent and Massart 2000, Lemma 1].
/// x = 25 gives 1.4e-11, which leaves a factor 70 for the distance of the statistic from its limit law.
/// A cell of probability zero must be empty.
inline void expect_counts(const std::vector<std::int64_t>& counts, const std::vector<double>& probabilities) {
    ASSERT_EQ(counts.size(), probabilities.size());
    const auto draws = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
    std::vector<double> observed{0};
    std::vector<double> expected{0};
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (probabilities[i] == 0) {
            EXPECT_EQ(counts[i], 0) << "cell " << i;
        }
        if (expected.back() >= 100) {
            observed.push_back(0);
            expected.push_back(0);
        }
        observed.back() += static_cast<double>(counts[i]);
        expected.back() += draws * probabilities[i];
    }
    if (expected.size() > 1 && expected.back() < 100) {
        expected[expected.size() - 2] += expected.back();
        observed[observed.size() - 2] += observed.back();
        expected.pop_back();
        observed.pop_back();
    }
    ASSERT_GE(expected.size(), 2u) << "too few draws for a test";
    double statistic = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        statistic += (observed[i] - expected[i]) * (observed[i] - expected[i]) / expected[i];
    }
    const auto freedom = static_cast<double>(expected.size() - 1);
    EXPECT_LE(statistic, freedom + 2 * std::sqrt(freedom * 25) + 2 * 25) << freedom << " degrees of freedom";
}

/// Kolmogorov-Smirnov against a continuous distribution function, for every sample size:
/// P(sup |F_n - F| > t) <= 2 exp(-2 n t^2) [Massart 1990]; t^2 = 22 / (2 n) gives 5.6e-10. `slack` is the
/// distance of `law` from the exact distribution function.
inline void expect_law(std::vector<double> sample, const std::function<double(double)>& law,
                       double slack = 0) {
    std::sort(sample.begin(), sample.end());
    const auto n = static_cast<double>(sample.size());
    double distance = 0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double value = law(sample[i]);
        distance =
            std::max({distance, value - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - value});
    }
    EXPECT_LE(distance, std::sqrt(22 / (2 * n)) + slack);
}

/// Mean of `draws` independent numbers in [0, 1]: P(|mean - expectation| > t) <= 2 exp(-2 n t^2)
/// [Hoeffding 1963]; the same t as above.
inline void expect_mean(double mean, double expectation, std::int64_t draws) {
    EXPECT_NEAR(mean, expectation, std::sqrt(22 / (2 * static_cast<double>(draws))));
}

inline double normal_law(double x) {
    return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

/// Masses of 0 .. last under the binomial law, by the recurrence f(k+1)/f(k) = (n-k)/(k+1) p/q away from
/// the mode, then normalised: no factorial and no logarithm.
inline std::vector<double> binomial_masses(std::int64_t trials, double p, std::int64_t last) {
    std::vector<double> mass(static_cast<std::size_t>(last) + 1, 0.0);
    const auto n = static_cast<double>(trials);
    const auto mode = static_cast<std::size_t>(std::floor((n + 1) * p));
    if (mode >= mass.size()) throw std::out_of_range("the mode must be among the masses");
    mass[mode] = 1;
    for (std::size_t k = mode; k + 1 < mass.size(); ++k) {
        const auto x = static_cast<double>(k);
        mass[k + 1] = mass[k] * ((n - x) / (x + 1)) * (p / (1 - p));
    }
    for (std::size_t k = mode; k > 0; --k) {
        const auto x = static_cast<double>(k);
        mass[k - 1] = mass[k] * (x / (n - x + 1)) * ((1 - p) / p);
    }
    const double total = std::accumulate(mass.begin(), mass.end(), 0.0);
    for (double& m : mass) m /= total;
    return mass;
}

/// Masses of 0 .. last under the Poisson law; the rest is added to the last.
inline std::vector<double> poisson_masses(double mean, std::int64_t last) {
    std::vector<double> mass(static_cast<std::size_t>(last) + 1);
    double rest = 1;
    double m = std::exp(-mean);
    for (std::size_t k = 0; k + 1 < mass.size(); ++k) {
        mass[k] = m;
        rest -= m;
        m *= mean / static_cast<double>(k + 1);
    }
    mass.back() = rest;
    return mass;
}

}  // namespace alidade::goodness_of_fit
