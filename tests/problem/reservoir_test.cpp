#include "alidade/problem/reservoir.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "problem/rows.hpp"

namespace alidade::reservoir_test {
namespace {

using detail::Reservoir;
using detail::ReservoirOptions;
using detail::TriangularLaw;

TEST(TriangularLaw, QuantilesInvertTheDistribution) {
    for (const TriangularLaw& law :
         {TriangularLaw{0, 0, 1}, TriangularLaw{0, 1, 1}, TriangularLaw{-1, 0.25, 0.75}}) {
        EXPECT_EQ(law.distribution(law.lower - 1), 0);
        EXPECT_EQ(law.distribution(law.upper + 1), 1);
        EXPECT_DOUBLE_EQ(law.quantile(0), law.lower);
        for (const double u : {0.01, 0.3, 0.6, 0.99})
            EXPECT_NEAR(law.distribution(law.quantile(u)), u, 1e-14);
    }
    // By hand: on [0, 1] with peak 1/2, a quarter of the base holds an eighth of the area.
    EXPECT_DOUBLE_EQ((TriangularLaw{0, 0.5, 1}).distribution(0.25), 0.125);
    EXPECT_DOUBLE_EQ((TriangularLaw{0, 0.5, 1}).distribution(0.75), 0.875);
}

TEST(Reservoir, TinyReservoirMatchesTheHandCalculation) {
    // Two cells, one action that releases half, one inflow on [0, 1] with its peak in the middle. From levels
    // 0, 1/4, 1/2 one keeps 0, 1/8, 1/4: the chance to end below 1/2 is F(1/2), F(3/8), F(1/4).
    const Reservoir reservoir({.cells = 2, .actions = 1, .features = 1, .horizon = 2, .inflow = 1});
    const Problem problem = reservoir.problem();
    const double low = (0.5 + 2 * 0.375 * 0.375 + 0.125) / 3;
    EXPECT_LE(distance(base_row(problem, 0, 0, 0), {{0, low}, {1, 1 - low}}), 1e-15);
    // From 1/2, 3/4, 1 one keeps 1/4, 3/8, 1/2.
    const double high = (0.125 + 2 * 0.125 * 0.125 + 0) / 3;
    EXPECT_LE(distance(base_row(problem, 0, 1, 0), {{0, high}, {1, 1 - high}}), 1e-15);
    // Slope 1/2, half a cell 1/4, density of peak 2.
    EXPECT_DOUBLE_EQ(problem.misspecification(), 0.25);
    EXPECT_EQ(problem.start(), StartLaw(1));
}

TEST(Reservoir, TheDefaultIsOffByAFiftiethAtMost) {
    EXPECT_NEAR(make_builtin("builtin:reservoir").misspecification(), 0.02, 1e-15);
    EXPECT_NEAR(make_builtin("builtin:reservoir?cells=200").misspecification(), 0.005, 1e-15);
}

TEST(Reservoir, NoProbeContradictsTheProvedBoundAndItIsNotFarAbove) {
    for (const ReservoirOptions& options :
         {ReservoirOptions{}, ReservoirOptions{.cells = 7, .actions = 2, .features = 4, .inflow = 0.4},
          ReservoirOptions{.cells = 31, .actions = 5, .features = 2, .inflow = 1}}) {
        const Reservoir reservoir(options);
        const std::vector<BaseLaw> laws = reservoir.laws();
        for (const Index points : {1, 3}) {
            const Aggregation made =
                aggregate(reservoir.grid(), options.actions, laws, {.points = points, .probes = 9});
            EXPECT_LE(made.probed, reservoir.misspecification() + 1e-12);
            EXPECT_GE(made.probed, 0.6 * reservoir.misspecification());
        }
    }
}

TEST(Reservoir, TheSimulatorsFollowTheLaws) {
    // Bernstein: a count of variance v is off by 6 sqrt(v) + 12 with probability below 2 exp(-18); over 3
    // laws of 10 cells, below 1e-6.
    const Reservoir reservoir({.cells = 10});
    const std::vector<BaseLaw> laws = reservoir.laws();
    const std::vector<Simulator> simulators = reservoir.simulators();
    const std::vector<double> level{0.77};
    for (std::size_t i = 0; i < laws.size(); ++i) {
        CellMasses law(10);
        laws[i].law(level, 1, law);
        EXPECT_NEAR(law.total(), 1, 1e-14);
        std::vector<double> next(1), seen(10, 0.0);
        Stream random(1, Purpose::test, i);
        for (int k = 0; k < 40'000; ++k) {
            simulators[i](level, 1, random, next);
            ASSERT_GE(next[0], 0.5 * 0.77);
            ASSERT_LE(next[0], 1);
            ++seen[static_cast<std::size_t>(reservoir.grid().cell_of(next))];
        }
        for (State cell = 0; cell < 10; ++cell) {
            const double p = law.at(cell);
            EXPECT_NEAR(seen[static_cast<std::size_t>(cell)], 40'000 * p,
                        6 * std::sqrt(40'000 * p * (1 - p)) + 12);
        }
    }
}

TEST(Reservoir, EveryLevelOfACellReachesOnlyWhatTheModelAllows) {
    // Otherwise exploration would take a possible transition for a contradiction.
    const Reservoir reservoir({.cells = 20});
    const Problem problem = reservoir.problem();
    const FeatureMap& map = problem.features();
    const std::vector<BaseLaw> laws = reservoir.laws();
    CellMasses law(20);
    for (State cell = 0; cell < 20; ++cell) {
        for (const std::vector<double>& level : reservoir.grid().points(cell, 13)) {
            for (Action a = 0; a < 3; ++a) {
                const auto allowed = map.targets(map.pair(cell, a));
                for (const BaseLaw& base : laws) {
                    law.clear();
                    base.law(level, a, law);
                    for (const State next : law.cells())
                        EXPECT_TRUE(std::ranges::binary_search(allowed, static_cast<std::int32_t>(next)));
                }
            }
        }
    }
}

TEST(Reservoir, NamesAndRewardsSayWhatTheyAre) {
    const Problem problem = make_builtin("builtin:reservoir");
    EXPECT_EQ(problem.state_name(25), "level 0.51");
    EXPECT_EQ(problem.action_name(0), "release 0.25");
    EXPECT_EQ(problem.features().names(),
              (std::vector<std::string>{"peak at 0", "peak at 0.375", "peak at 0.75"}));
    ASSERT_EQ(problem.rewards().size(), 3u);
    EXPECT_NEAR(problem.rewards()[0].reward.at(0, 25, 0), 0.51 / 3, 1e-15);
    EXPECT_NEAR(problem.rewards()[0].reward.at(0, 25, 2), 0.51, 1e-15);
    EXPECT_EQ(problem.rewards()[1].reward.at(0, 44, 0), 1);
    EXPECT_EQ(problem.rewards()[1].reward.at(0, 45, 0), 0);
    EXPECT_NEAR(problem.rewards()[2].reward.at(0, 25, 0), 0.98, 1e-15);
}

TEST(Reservoir, RefusesWhatSaysNothing) {
    EXPECT_THROW(make_builtin("builtin:reservoir?cells=1&inflow=0.5"), InvalidArgument);
    EXPECT_THROW(Reservoir({.cells = 0}), InvalidArgument);
    EXPECT_THROW(Reservoir({.inflow = 0}), InvalidArgument);
    EXPECT_THROW(Reservoir({.start_level = 1.5}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::reservoir_test
