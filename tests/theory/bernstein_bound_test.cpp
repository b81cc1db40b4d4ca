#include "alidade/theory/bounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace alidade::bernstein_bound_test {
namespace {

BoundSetting square(Index size) {
    return {size, size, base_model_norm_bound(size), 0.1};
}

double printed_episodes(Index size, double epsilon) {
    return bernstein_episodes(square(size), epsilon, BernsteinRadii::printed);
}

TEST(Theorem2, AsksForTheEpisodesOfAnIndependentCalculation) {
    // From a numpy script that solved the same inequalities by iteration, to the digits it printed.
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(3, 0.5)), "2.0e+13");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(5, 0.5)), "3.3e+14");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(10, 1)), "3.8e+15");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(20, 1)), "1.6e+17");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(50, 0.1)), "2.5e+21");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(200, 0.1)), "4.1e+24");
    EXPECT_EQ(fmt::format("{:.1e}", printed_episodes(1000, 0.1)), "2.0e+28");
}

TEST(Theorem2, BeatsTheorem1OnlyWhereSizesAreInTheTensOfThousands) {
    for (const Index size : {50, 1000, 5000, 20000})
        EXPECT_GT(printed_episodes(size, 0.1), hoeffding_episodes(square(size), 0.1)) << size;
    for (const Index size : {60000, 200000})
        EXPECT_LT(printed_episodes(size, 0.1), hoeffding_episodes(square(size), 0.1)) << size;
}

TEST(Theorem2, SolvesItsInequalities) {
    // The value sum A and the sums of variances x1, x2 of the printed proof, here by iteration upward.
    const double d = 5, H = 4, K = 1e12, delta = 0.1, B = 2;
    const double l = std::log(1 + K * B * B), l2 = std::log(1 + K * H * H * B * B / d);
    const double l4 = std::log(1 + K * H * H * H * H * B * B / d), level = std::log(32 * K * K * H / delta);
    const double hat = 16 * std::sqrt(d * l2 * level) + 1, check = 16 * d * std::sqrt(l2 * level) + 1;
    const double tilde = 16 * H * H * std::sqrt(d * l4 * level) + 1;
    const double martingale = std::sqrt(2 * H * H * H * K * std::log(8 / delta));
    const double rows = std::sqrt(2 * d * H * H * K * l4);
    double x1 = 0, x2 = 0, sum = 0;
    for (int i = 0; i < 10000; ++i) {
        x1 = H * H * H * K / d + H * H * K + 4 * H * check * std::sqrt(2 * d * H * x1 * l) +
             4 * tilde * rows + H * martingale;
        const double s1 = hat * std::sqrt(2 * d * H * x1 * l), s2 = hat * std::sqrt(2 * d * H * x2 * l);
        x2 = H * H * H * K / d + 4 * H * check * std::sqrt(2 * d * H * x2 * l) + 2 * tilde * rows +
             H * (H * sum + martingale + 2 * s2);
        sum = s1 + 4 * s2 + martingale;
    }
    const BoundSetting setting{5, 4, B, delta};
    EXPECT_NEAR(bernstein_value_sum(setting, K, BernsteinRadii::printed) / sum, 1, 1e-9);
    EXPECT_NEAR(bernstein_guarantee(setting, K, BernsteinRadii::printed), 4 * sum / K, 4e-9 * sum / K);
    const BernsteinRadius radius = bernstein_radii(setting, K, BernsteinRadii::printed);
    EXPECT_NEAR(radius.weighted, hat, 1e-9 * hat);
    EXPECT_NEAR(radius.coarse, check, 1e-9 * check);
    EXPECT_NEAR(radius.squares, tilde, 1e-9 * tilde);
}

TEST(Theorem2, SafeRadiiAreThoseOfTheLemma) {
    // By hand, d = 4, H = 3, B = 2, K = 100, delta = 0.1: level ln(64 * 3 * 1e4 / 0.1).
    const double level = std::log(64.0 * 3 * 1e4 / 0.1), l = std::log(1 + 100.0 * 4);
    const double l4 = std::log(1 + 100.0 * 81 * 4 / 4);
    const BernsteinRadius radius = bernstein_radii({4, 3, 2, 0.1}, 100, BernsteinRadii::safe);
    EXPECT_NEAR(radius.weighted, 8 * std::sqrt(4 * l * level) + 8 * level + 1, 1e-9);
    EXPECT_NEAR(radius.coarse, 8 * 4 * std::sqrt(l * level) + 8 * level + 1, 1e-9);
    EXPECT_NEAR(radius.squares, 8 * 9 * std::sqrt(4 * l4 * level) + 36 * level + 1, 1e-9);
}

TEST(Theorem2, PrintedRadiusIsTooSmallForManyFeaturesAndShortHorizons) {
    // Printed against the lemma at the printed level: d = 400, H = 3, B = 1, where a study found it 5 per
    // cent short at K = 1e6 and 38 per cent at K = 1e3 [theory §2, errata 8 and 9].
    const auto shortfall = [](double K) {
        const double level = std::log(32 * K * K * 3 / 0.1);
        const double lemma = 8 * std::sqrt(400 * std::log(1 + K) * level) + 4 * 20 * level + 1;
        return lemma / bernstein_radii({400, 3, 1, 0.1}, K, BernsteinRadii::printed).weighted - 1;
    };
    EXPECT_NEAR(shortfall(1e6), 0.05, 0.005);
    EXPECT_NEAR(shortfall(1e3), 0.38, 0.005);
    // With K as large as Theorem 2 wants it, the 16 covers both terms if d <= H^2.
    for (const double K : {1e10, 1e14}) {
        const BoundSetting setting = square(6);
        EXPECT_GT(bernstein_radii(setting, K, BernsteinRadii::printed).weighted,
                  bernstein_radii(setting, K, BernsteinRadii::safe).weighted);
    }
}

TEST(Theorem2, GuaranteesWhatItWasAskedForAndNoSooner) {
    for (const BernsteinRadii radii : {BernsteinRadii::printed, BernsteinRadii::safe})
        for (const double epsilon : {0.05, 1.0, 6.0}) {
            const double episodes = bernstein_episodes(square(6), epsilon, radii);
            EXPECT_LE(bernstein_guarantee(square(6), episodes, radii), epsilon * (1 + 1e-12));
            EXPECT_GT(bernstein_guarantee(square(6), episodes * (1 - 1e-6), radii), epsilon);
        }
}

}  // namespace
}  // namespace alidade::bernstein_bound_test
