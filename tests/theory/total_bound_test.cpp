#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/bounds.hpp"

namespace alidade::total_bound_test {
namespace {

BoundSetting setting_of(Index d, Index H) {
    return {d, H, std::sqrt(static_cast<double>(d)), 0.1};
}

// Three digits, of a reading of the proof by somebody else.
TEST(TotalBound, HorizonFreeEpisodesAreThoseOfTheProof) {
    EXPECT_NEAR(horizon_free_episodes(setting_of(3, 10), 0.1) / 4.07e18, 1, 5e-3);
    EXPECT_NEAR(horizon_free_episodes(setting_of(5, 10), 0.1) / 1.19e19, 1, 5e-3);
    EXPECT_NEAR(horizon_free_episodes(setting_of(5, 100), 0.1) / 1.47e19, 1, 5e-3);
    EXPECT_NEAR(horizon_free_episodes(setting_of(10, 20), 0.1) / 5.41e19, 1, 5e-3);
    EXPECT_NEAR(horizon_free_episodes(setting_of(5, 10), 1) / 9.26e16, 1, 5e-3);
}

// Its terms by hand where they are simple: d = 4, B = 2, so lambda = 1 and gamma^2 = 1/2; H = 4, so alpha^2 =
// 1/4; K = 2^20, so M = ceil(log2(7) + 22) = 25.
TEST(TotalBound, HorizonFreeGuaranteeIsTheSumOfItsTerms) {
    const double K = 1048576, delta = 0.1 / 100, i = std::log(1 + 4 * K),
                 z = 4 * std::log(4 * std::log(4 * K) / delta);
    const double tau = std::log(32 * 1.0 * 16 * K * K / delta),
                 beta = 12 * std::sqrt(4 * i * tau) + 60 * tau + 2;
    const double first = 896 * 64 * beta * beta * 4 * i + 24 * z + 240 * 4 * i + 120 * beta * 4 * i +
                         120 * beta * 4 * i * 5 + 24 * std::sqrt(z * 25 * 4 * i) + 25 * 4 * i;
    const double second = 64 * 8 * beta * std::sqrt(4 * i) + 120 * beta * std::sqrt(4 * i);
    EXPECT_NEAR(horizon_free_guarantee({4, 4, 2, 0.1}, K) / (4 * first / K + 4 * second / 1024), 1, 1e-12);
}

TEST(TotalBound, EpisodesAreTheLeastThatGuaranteeIt) {
    for (const double epsilon : {1.0, 0.3, 0.01}) {
        const BoundSetting setting = setting_of(4, 30);
        const double episodes = horizon_free_episodes(setting, epsilon);
        EXPECT_LE(horizon_free_guarantee(setting, episodes), epsilon * (1 + 1e-12));
        EXPECT_GT(horizon_free_guarantee(setting, 0.99 * episodes), epsilon);
    }
}

// B = ln 2 + ln 10 + r; for d = 3 the regret r is ln(2t + 1), t = K (H-1) observations.
TEST(TotalBound, RateIsTheFixedPointOfItsLogarithm) {
    const double K = trajectory_rate(setting_of(3, 10), 0.1);
    EXPECT_NEAR(K / (400 * (std::log(20.0) + std::log(18 * K + 1))), 1, 1e-3);
    EXPECT_NEAR(K / 5.8e3, 1, 0.01);
    EXPECT_NEAR(trajectory_rate(setting_of(5, 10), 0.1) / 2.2e4, 1, 0.03);
    EXPECT_NEAR(trajectory_rate(setting_of(5, 100), 0.1) / 2.6e4, 1, 0.03);
    EXPECT_NEAR(trajectory_rate(setting_of(10, 20), 0.1) / 1.2e5, 1, 0.03);
    const double apart = trajectory_rate(setting_of(3, 10), 0.1, false);
    EXPECT_NEAR(apart / (9 * 400 * (std::log(180.0) + std::log(2 * apart + 1))), 1, 1e-3);
    EXPECT_EQ(trajectory_rate({1, 10, 1, 0.1}, 0.1), 0);
    EXPECT_EQ(trajectory_rate({3, 1, 2, 0.1}, 0.1), 0);
}

TEST(TotalBound, RefusesLossesThatThereAreNot) {
    EXPECT_THROW(horizon_free_episodes(setting_of(3, 10), 1.1), InvalidArgument);
    EXPECT_THROW(horizon_free_episodes(setting_of(3, 10), 0), InvalidArgument);
    EXPECT_THROW(trajectory_rate(setting_of(3, 10), 2), InvalidArgument);
    EXPECT_THROW(horizon_free_guarantee(setting_of(3, 10), 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::total_bound_test
