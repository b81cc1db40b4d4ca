#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/theory/bounds.hpp"

namespace alidade::covering_test {
namespace {

constexpr auto all_constants = {CoveringConstants::cited, CoveringConstants::sharp};

/// The radius for values with bonuses up to B, as docs/bounds.md writes it, the best of a fine grid of
/// epsilon.
double plain_radius(CoveringConstants constants, double d, double H, double K, double B, double failure) {
    double best = std::numeric_limits<double>::infinity();
    for (double x = -40; x < 10; x += 0.002) {
        const double e = std::exp(x), level = std::log(1 / failure);
        if (constants == CoveringConstants::cited) {
            const double number = d * std::log(1 + 4 * 2 * H * std::sqrt(d * K) / e) +
                                  d * d * std::log(1 + 8 * std::sqrt(d) * B * B / (e * e));
            best = std::min(
                best, std::sqrt(4 * H * H * (d / 2 * std::log(K + 1) + number + level) + 8 * K * K * e * e));
        } else {
            const double number = d * std::log(1 + 4 * (H * std::sqrt(K) / 2 + std::sqrt(d)) / e) +
                                  d * (d + 1) / 2 * std::log(1 + 4 * B * B / (e * e));
            best = std::min(best, H / 2 * std::sqrt(d * std::log(1 + K / d) + 2 * (number + level)) +
                                      2 * e * std::sqrt(K));
        }
    }
    return best + H * std::sqrt(d);
}

TEST(Covering, CitedRadiusIsThatOfAnIndependentCalculation) {
    // In units of H, for Algorithm 4 alone: K = 1e5, H = 10 steps that share delta = 0.1.
    const double expected[][2] = {{3, 40.31}, {5, 63.72}, {10, 122.21}};
    for (const auto& [features, radius] : expected)
        EXPECT_NEAR(linear_mdp_covering_radius({static_cast<Index>(features), 10, 1, 0.1}, 1e5, 0.01,
                                               CoveringConstants::cited, CoveredValues::planning) /
                        10,
                    radius, 0.006);
}

TEST(Covering, RadiusIsTheLeastThatCoversItsOwnBonuses) {
    for (const auto constants : all_constants)
        for (const auto values : {CoveredValues::planning, CoveredValues::both})
            for (const double episodes : {1.0, 30.0, 1e5, 1e12}) {
                const double bonuses = values == CoveredValues::both ? 2 : 1;
                const double radius =
                    linear_mdp_covering_radius({4, 6, 1, 0.1}, episodes, 0.02, constants, values);
                const auto needed = [&](double r) {
                    return plain_radius(constants, 4, 6, episodes, bonuses * r, 0.02);
                };
                // The grid's best is a little above the true one, which is what the radius must cover.
                EXPECT_NEAR(radius, needed(radius), 1e-6 * radius) << episodes;
                for (const double less : {0.3, 0.7, 0.99})
                    EXPECT_GT(needed(less * radius), less * radius) << episodes;
            }
}

TEST(Covering, RadiusGrowsWithItsArguments) {
    for (const auto constants : all_constants) {
        const auto radius = [&](Index d, Index H, double K, double failure) {
            return linear_mdp_covering_radius({d, H, 1, 0.1}, K, failure, constants);
        };
        const double some = radius(4, 6, 1e4, 0.1);
        EXPECT_GT(radius(5, 6, 1e4, 0.1), some);
        EXPECT_GT(radius(4, 7, 1e4, 0.1), some);
        EXPECT_GT(radius(4, 6, 1.1e4, 0.1), some);
        EXPECT_GT(radius(4, 6, 1e4, 0.09), some);
        EXPECT_LT(linear_mdp_covering_radius({4, 6, 1, 0.1}, 1e4, 0.1, constants, CoveredValues::planning),
                  some);
        // Squares of what is compared here exceed any double.
        EXPECT_GT(radius(4, 6, 1e290, 0.1), radius(4, 6, 1e280, 0.1));
        // The proof of the guarantee needs it: clipping at H.
        EXPECT_GE(radius(1, 6, 1, 0.999), 6);
    }
}

TEST(Covering, OwnConstantsAreSharper) {
    for (const Index d : {1, 3, 30})
        for (const double episodes : {1.0, 1e3, 1e9})
            EXPECT_LT(linear_mdp_covering_radius({d, 5, 1, 0.1}, episodes, 0.1, CoveringConstants::sharp),
                      linear_mdp_covering_radius({d, 5, 1, 0.1}, episodes, 0.1, CoveringConstants::cited));
}

TEST(Covering, MeetsTheRadiusOfFinitelyManyStates) {
    for (const auto constants : all_constants)
        for (const Index d : {1, 5, 20})
            for (const double episodes : {10.0, 1e5, 1e10}) {
                const BoundSetting setting{d, 7, 1, 0.1};
                const LinearMdpMeeting meeting = linear_mdp_meeting(setting, episodes, constants);
                const auto S = static_cast<Index>(meeting.states);
                const double failure = 0.1 / (2 * 6);
                const double radius = linear_mdp_covering_radius(setting, episodes, failure, constants);
                EXPECT_DOUBLE_EQ(meeting.radius, radius);
                EXPECT_LE(linear_mdp_radius(setting, S, episodes, failure), radius);
                EXPECT_GT(linear_mdp_radius(setting, S + 1, episodes, failure), radius);
                // So the guarantees cross there, too.
                const double covered = linear_mdp_covering_guarantee(setting, episodes, constants);
                EXPECT_LE(linear_mdp_guarantee(setting, S, episodes), covered);
                EXPECT_GT(linear_mdp_guarantee(setting, S + 1, episodes), covered);
            }
}

TEST(Covering, GuaranteesWhatItWasAskedForAndNoSooner) {
    const BoundSetting setting{3, 4, 1, 0.1};
    for (const auto constants : all_constants)
        for (const double epsilon : {0.5, 4.0}) {
            const double episodes = linear_mdp_covering_episodes(setting, epsilon, constants);
            EXPECT_LE(linear_mdp_covering_guarantee(setting, episodes, constants), epsilon * (1 + 1e-12));
            EXPECT_GT(linear_mdp_covering_guarantee(setting, episodes - 1, constants), epsilon);
        }
}

TEST(Covering, RefusesWhatIsNoSize) {
    const BoundSetting setting{3, 4, 1, 0.1};
    for (const double wrong : {0.0, 1.0, std::nan("")})
        EXPECT_THROW(linear_mdp_covering_radius(setting, 10, wrong, CoveringConstants::cited),
                     InvalidArgument);
    for (const double wrong : {0.0, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW(linear_mdp_covering_radius(setting, wrong, 0.1, CoveringConstants::sharp),
                     InvalidArgument);
    EXPECT_THROW(linear_mdp_covering_radius({0, 4, 1, 0.1}, 10, 0.1, CoveringConstants::cited),
                 InvalidArgument);
    EXPECT_THROW(linear_mdp_covering_episodes(setting, 5, CoveringConstants::cited), InvalidArgument);
    EXPECT_THROW(linear_mdp_meeting(setting, 0, CoveringConstants::cited), InvalidArgument);
}

}  // namespace
}  // namespace alidade::covering_test
