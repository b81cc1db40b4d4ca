#include "alidade/theory/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::sharp_bound_test {
namespace {

TEST(SharpBound, IsTheHandCalculationForTwoBaseModels) {
    // d = 2, H = 3, delta = 0.2, K = 1000: one dimension, |x|^2 <= 1/2, lambda = 1/4, so the determinant
    // ratio is at most 1 + 2K; two sets share 0.1.
    const double information = std::log(2001.0);
    const double radius = 0.5 * std::sqrt(information + 2 * std::log(2 / 0.1)) + 0.5 * std::sqrt(0.5);
    EXPECT_NEAR(sharp_radius_bound({2, 3, 1, 0.2}, 1000, 0.1), radius, 1e-12);
    // Ranges 2 and 1: bonuses (3 + 1) radius; martingale differences of ranges 2 and 1.
    const double bonuses = 4 * radius * std::sqrt(1000 * 2 * information);
    const double martingale = std::sqrt(0.5 * 1000 * (4 + 1) * std::log(1 / 0.1));
    EXPECT_NEAR(sharp_guarantee({2, 3, 1, 0.2}, 1000), 2 * (bonuses + martingale) / 1000, 1e-12);
}

TEST(SharpBound, RowNormIsThatOfTheWorstZeroOneColumn) {
    // The largest |x|^2 over columns of zeros and ones less their mean is floor(d/2) ceil(d/2)/d <= d/4: the
    // radius bound for K = 1 covers the radius that this row gives.
    for (Index d = 2; d <= 9; ++d) {
        const auto low = static_cast<double>(d / 2), high = static_cast<double>(d - d / 2);
        const double square = low * high / static_cast<double>(d);
        const double radius = 0.5 * std::sqrt(std::log(1 + 4 * square) + 2 * std::log(1 / 0.1)) +
                              0.5 * std::sqrt(1 - 1 / static_cast<double>(d));
        EXPECT_GE(sharp_radius_bound({d, 2, 1, 0.1}, 1, 0.1), radius) << d;
    }
}

TEST(SharpBound, AsksForFarLessThanTheorem1AndMoreThanRunsNeeded) {
    // Episodes that runs needed in a study: 1.4e3, 8.2e4, 2.5e6.
    const double needed[] = {1.44e3, 8.2e4, 2.5e6};
    const Index sizes[] = {3, 5, 10};
    const double epsilons[] = {0.5, 0.5, 1};
    for (int i = 0; i < 3; ++i) {
        const BoundSetting setting{sizes[i], sizes[i], base_model_norm_bound(sizes[i]), 0.1};
        const double episodes = sharp_episodes(setting, epsilons[i]);
        EXPECT_GT(episodes, needed[i]);
        EXPECT_LT(1000 * episodes, hoeffding_episodes(setting, epsilons[i]));
    }
}

TEST(SharpBound, GuaranteesWhatItWasAskedForAndNoSooner) {
    const BoundSetting setting{4, 6, 1, 0.1};
    for (const double growth : {0.0, 0.1, 1.0})
        for (const double epsilon : {0.1, 1.0, 6.0}) {
            const double episodes = sharp_episodes(setting, epsilon, growth);
            EXPECT_LE(sharp_guarantee(setting, episodes, growth), epsilon * (1 + 1e-12));
            EXPECT_GT(sharp_guarantee(setting, episodes - 1, growth), epsilon);
        }
}

TEST(SharpBound, RareSwitchingCostsAtMostItsFactorAndALogarithm) {
    const BoundSetting setting{4, 6, 1, 0.1};
    const double every = sharp_episodes(setting, 0.5), doubling = sharp_episodes(setting, 0.5, 1);
    EXPECT_GT(doubling, every);
    EXPECT_LT(doubling, 2.5 * every);
    EXPECT_LT(sharp_policies(setting, doubling, 1), 500);
    EXPECT_GT(sharp_policies(setting, doubling, 0.1), sharp_policies(setting, doubling, 1));
}

TEST(SharpBound, NothingToLearnNeedsNoEpisodes) {
    for (const BoundSetting& setting : {BoundSetting{1, 5, 1, 0.1}, BoundSetting{5, 1, 1, 0.1}}) {
        EXPECT_EQ(sharp_guarantee(setting, 1), 0);
        EXPECT_EQ(sharp_episodes(setting, 0.5), 1);
        EXPECT_EQ(sharp_policies(setting, 100, 1), 1);
        EXPECT_THROW(sharp_radius_bound(setting, 1, 0.1), InvalidArgument);
    }
}

}  // namespace
}  // namespace alidade::sharp_bound_test
