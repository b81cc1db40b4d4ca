#include "alidade/theory/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"

namespace alidade::linear_mdp_bound_test {
namespace {

TEST(LinearMdp, PrintsItsFormulas) {
    // By hand: d = 2, H = 3, delta = 0.1, epsilon = 0.5: the logarithm is ln(120).
    const BoundSetting setting{2, 3, 1, 0.1};
    EXPECT_NEAR(linear_mdp_printed_radius(setting, 0.5, 4), 4 * 6 * std::sqrt(std::log(120.0)), 1e-12);
    EXPECT_NEAR(linear_mdp_printed_episodes(setting, 0.5, 7), 7 * 8 * 81 * std::log(120.0) / 0.25, 1e-8);
}

TEST(LinearMdp, RadiusIsAUnionOverPairsOfVerticesOfTheBox) {
    // By hand, S = 3, d = 4, H = 5, K = 8, failure 0.1: 5 (1/2 sqrt(4 ln 3 + 2 ln(4/0.1)) + 2).
    EXPECT_NEAR(linear_mdp_radius({4, 5, 1, 0.5}, 3, 8, 0.1),
                5 * (0.5 * std::sqrt(4 * std::log(3.0) + 2 * std::log(40.0)) + 2), 1e-12);
    EXPECT_EQ(linear_mdp_radius({4, 5, 1, 0.5}, 1, 8, 0.1), 10);
    EXPECT_THROW(linear_mdp_radius({4, 5, 1, 0.5}, 0, 8, 0.1), InvalidArgument);
    EXPECT_THROW(linear_mdp_radius({4, 5, 1, 0.5}, 3, 8, 0), InvalidArgument);
    EXPECT_THROW(linear_mdp_radius({4, 5, 1, 0.5}, 3, 0, 0.1), InvalidArgument);
}

TEST(LinearMdp, GuaranteeIsTheHandCalculation) {
    // d = 2, H = 3, S = 4, delta = 0.1, K = 100: two learned steps share 0.05, 8 pairs of vertices each.
    const double information = 2 * std::log(51.0);
    const double radius = 3 * (0.5 * std::sqrt(information + 2 * std::log(8 * 40.0)) + std::sqrt(2.0));
    const double sum =
        9 * radius * std::sqrt(100 * 2 * information) + 3 * std::sqrt(0.5 * 300 * std::log(20.0));
    EXPECT_NEAR(linear_mdp_guarantee({2, 3, 1, 0.1}, 4, 100), 2 * sum / 100, 1e-10);
}

TEST(LinearMdp, GuaranteesWhatItWasAskedForAndNoSooner) {
    const BoundSetting setting{6, 5, 1, 0.1};
    for (const double epsilon : {0.2, 5.0}) {
        const double episodes = linear_mdp_episodes(setting, 20, epsilon);
        EXPECT_LE(linear_mdp_guarantee(setting, 20, episodes), epsilon * (1 + 1e-12));
        EXPECT_GT(linear_mdp_guarantee(setting, 20, episodes - 1), epsilon);
        EXPECT_GT(linear_mdp_episodes(setting, 40, epsilon), episodes);
    }
}

}  // namespace
}  // namespace alidade::linear_mdp_bound_test
