#include "alidade/theory/bounds.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/theory/fixed_point.hpp"
#include "alidade/theory/radii.hpp"

namespace alidade::hoeffding_bound_test {
namespace {

/// d = H with the norm bound of base models.
BoundSetting square(Index size) {
    return {size, size, base_model_norm_bound(size), 0.1};
}

TEST(FixedPoint, IsTheLeast) {
    // Several fixed points: 3 is the least K with K >= demand(K), though 10 is another.
    EXPECT_EQ(detail::least_fixed_point([](double k) { return k < 3 ? k + 0.5 : k < 7 ? 3 : 10; }), 3);
    EXPECT_EQ(detail::least_fixed_point([](double) { return 0.2; }), 1);
    EXPECT_THROW(detail::least_fixed_point([](double k) { return 2 * k; }), InvalidArgument);
}

TEST(FixedPoint, SolvesTheQuadratic) {
    EXPECT_DOUBLE_EQ(detail::self_bounded(6, 1), 9);
    EXPECT_DOUBLE_EQ(detail::self_bounded(0, 3), 9);
    EXPECT_DOUBLE_EQ(detail::self_bounded(5, 0), 5);
}

TEST(Theorem1, AsksForTheEpisodesOfAnIndependentCalculation) {
    // From a numpy script, delta = 0.1, to the digits it printed.
    const auto three = [](Index size, double epsilon) {
        return fmt::format("{:.2e}", hoeffding_episodes(square(size), epsilon));
    };
    EXPECT_EQ(three(3, 0.5), "1.12e+09");
    EXPECT_EQ(three(5, 0.5), "3.40e+10");
    EXPECT_EQ(three(10, 1), "7.40e+11");
    const auto two = [](Index size, double epsilon) {
        return fmt::format("{:.1e}", hoeffding_episodes(square(size), epsilon));
    };
    EXPECT_EQ(two(20, 1), "6.6e+13");
    EXPECT_EQ(two(50, 0.1), "2.8e+18");
    EXPECT_EQ(two(200, 0.1), "1.7e+22");
    EXPECT_EQ(two(1000, 0.1), "4.0e+26");
    EXPECT_EQ(two(5000, 0.1), "8.7e+30");
}

TEST(Theorem1, AsksForFewerWhereTheWeightsAreShort) {
    const auto unit = [](Index size, double epsilon) {
        return fmt::format("{:.2e}", hoeffding_episodes({size, size, 1, 0.1}, epsilon));
    };
    EXPECT_EQ(unit(3, 0.5), "1.02e+09");
    EXPECT_EQ(unit(5, 0.5), "3.03e+10");
    EXPECT_EQ(unit(10, 1), "6.42e+11");
}

TEST(Theorem1, AsksForTheLeastKThatSatisfiesIt) {
    const BoundSetting setting{1, 1, 1, 0.1};
    double least = 1;
    while (576 * std::log(4 * least / 0.1) * std::log(1 + least) > least) ++least;
    EXPECT_EQ(hoeffding_episodes(setting, 1), least);
}

TEST(Theorem1, GuaranteesWhatItWasAskedFor) {
    for (const Index d : {1, 4, 30})
        for (const Index H : {1, 3, 12})
            for (const double share : {0.01, 0.3, 1.0}) {
                const BoundSetting setting{d, H, base_model_norm_bound(d), 0.05};
                const double epsilon = share * static_cast<double>(H);
                const double episodes = hoeffding_episodes(setting, epsilon);
                EXPECT_LE(hoeffding_guarantee(setting, episodes), epsilon * (1 + 1e-12));
                EXPECT_GT(hoeffding_guarantee(setting, episodes * (1 - 1e-6) - 1), epsilon);
            }
}

TEST(Theorem1, AsksForMoreWhenMoreIsWanted) {
    const BoundSetting setting = square(6);
    const double episodes = hoeffding_episodes(setting, 0.5);
    EXPECT_GT(hoeffding_episodes(setting, 0.25), 4 * episodes);
    EXPECT_GT(hoeffding_episodes({7, 6, setting.norm_bound, 0.1}, 0.5), episodes);
    EXPECT_GT(hoeffding_episodes({6, 7, setting.norm_bound, 0.1}, 0.5), episodes);
    EXPECT_GT(hoeffding_episodes({6, 6, 4, 0.1}, 0.5), episodes);
    EXPECT_GT(hoeffding_episodes({6, 6, setting.norm_bound, 0.01}, 0.5), episodes);
}

TEST(Theorem1, PrintsARadiusThatCoversTheorem2OfAbbasiYadkori) {
    // With noise H, half of delta over H steps, rows of norm H and lambda = 1/B^2.
    for (const double episodes : {1.0, 1e3, 1e9}) {
        const BoundSetting setting = square(5);
        const double lemma =
            detail::ridge_radius({5, episodes, 5, 0.2}, 5, setting.norm_bound, 0.1 / (2 * 5));
        EXPECT_GE(hoeffding_radius(setting, episodes), lemma);
        EXPECT_LE(hoeffding_radius(setting, episodes), 1.05 * lemma);
    }
    // By hand: H = 2, d = 3, B = 1, K = 10: 2 sqrt(3 ln(4 * 8 * 10 / 0.1)) + 1.
    EXPECT_NEAR(hoeffding_radius({3, 2, 1, 0.1}, 10), 2 * std::sqrt(3 * std::log(3200.0)) + 1, 1e-12);
}

TEST(Theorem1, RefusesImpossibleSettings) {
    EXPECT_THROW(hoeffding_episodes({0, 3, 1, 0.1}, 1), InvalidArgument);
    EXPECT_THROW(hoeffding_episodes({3, 0, 1, 0.1}, 1), InvalidArgument);
    EXPECT_THROW(hoeffding_episodes({3, 3, 0.5, 0.1}, 1), InvalidArgument);
    EXPECT_THROW(hoeffding_episodes({3, 3, 1, 0}, 1), InvalidArgument);
    for (const double epsilon : {0.0, -1.0, 3.5, std::nan("")})
        EXPECT_THROW(hoeffding_episodes({3, 3, 1, 0.1}, epsilon), InvalidArgument) << epsilon;
    EXPECT_THROW(hoeffding_guarantee({3, 3, 1, 0.1}, 0), InvalidArgument);
    EXPECT_THROW(hoeffding_episodes({3, 3, 1, 0.1}, 1e-200), InvalidArgument);
}

}  // namespace
}  // namespace alidade::hoeffding_bound_test
