#include "alidade/problem/aggregation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::aggregation_test {
namespace {

const Grid line({{0, 1, 8}});

/// A walk by whole cells: -1, 0 or +1 of them.
CellLaw walk(std::array<double, 3> chances) {
    const auto next = [](std::span<const double> state, Action a, std::span<const double> disturbance,
                         std::span<double> reached) {
        reached[0] = state[0] + disturbance[0] * (a == 0 ? 1 : -1) / 8;
    };
    return quadrature(line, next, {{{-1}, chances[0]}, {{0}, chances[1]}, {{1}, chances[2]}});
}

double chance(const FeatureMap& map, Index base, State s, Action a, State target) {
    const Index pair = map.pair(s, a);
    for (Index entry = map.first_entry(pair); entry < map.first_entry(pair + 1); ++entry)
        if (map.targets()[static_cast<std::size_t>(entry)] == target)
            return map.phi(entry)[static_cast<std::size_t>(base)];
    return 0;
}

TEST(Aggregation, ByQuadratureIsExactWhereTheCellIsAllThatMatters) {
    // Moves of whole cells lead from every point of a cell to the same cells.
    const std::vector<BaseLaw> bases{{"left", walk({0.5, 0.25, 0.25})},
                                     {"right", walk({0.125, 0.25, 0.625})}};
    const Aggregation made = aggregate(line, 2, bases, {.points = 1, .probes = 1});
    EXPECT_EQ(made.probed, 0);
    EXPECT_EQ(made.law_error, 0);
    EXPECT_EQ(made.failure_probability, 0);
    const FeatureMap& map = *made.features;
    EXPECT_EQ(map.names(), (std::vector<std::string>{"left", "right"}));
    EXPECT_EQ(map.states(), 8);
    EXPECT_EQ(map.actions(), 2);
    EXPECT_EQ(chance(map, 0, 3, 0, 2), 0.5);
    EXPECT_EQ(chance(map, 1, 3, 0, 4), 0.625);
    EXPECT_EQ(chance(map, 1, 3, 1, 2), 0.625);  // the other action mirrors the disturbance
    EXPECT_EQ(chance(map, 0, 0, 0, 0), 0.75);   // clamped at the border
    EXPECT_EQ(chance(map, 1, 7, 0, 7), 0.875);
}

/// s' = s/2 + W with W uniform on [0, 1/2], cell by cell from lengths of overlaps.
void halved_plus_uniform(std::span<const double> state, Action, CellMasses& law) {
    const double from = state[0] / 2, to = from + 0.5;
    for (State cell = 0; cell < 8; ++cell) {
        const double low = static_cast<double>(cell) / 8, high = low + 0.125;
        law.add(cell, 2 * std::max(0.0, std::min(to, high) - std::max(from, low)));
    }
}

TEST(Aggregation, AveragesOverPointsAndProbesTheRest) {
    const std::vector<BaseLaw> bases{{"uniform", halved_plus_uniform}};
    const Aggregation centre = aggregate(line, 1, bases, {.points = 1, .probes = 2});
    // From a border, 1/16 from the centre, the law moves by 1/32, and the density is 2: exactly 1/16.
    EXPECT_NEAR(centre.probed, 0.0625, 1e-15);
    EXPECT_LE(centre.probed, shift_variation(0.5, 0.0625, 4) + 1e-15);
    // Cell 2 is [1/4, 3/8]; from its centre 5/16 one goes to [5/32, 21/32].
    EXPECT_NEAR(chance(*centre.features, 0, 2, 0, 1), 2 * 0.09375, 1e-15);
    EXPECT_NEAR(chance(*centre.features, 0, 2, 0, 5), 2 * 0.03125, 1e-15);
    EXPECT_EQ(chance(*centre.features, 0, 2, 0, 6), 0);
    // From the borders to [1/8, 5/8] and [3/16, 11/16].
    const Aggregation borders = aggregate(line, 1, bases, {.points = 2, .probes = 5});
    EXPECT_NEAR(chance(*borders.features, 0, 2, 0, 1), (0.25 + 0.125) / 2, 1e-15);
    EXPECT_NEAR(chance(*borders.features, 0, 2, 0, 5), 0.0625, 1e-15);
    EXPECT_NEAR(borders.probed, 0.0625, 1e-15);
}

TEST(Aggregation, TheBoundOfAShiftHoldsFromEveryPointForEverySymmetricAverage) {
    const std::vector<BaseLaw> bases{{"uniform", halved_plus_uniform}};
    for (const Index points : {1, 2, 3, 4, 7}) {
        const Aggregation made = aggregate(line, 1, bases, {.points = points, .probes = 41});
        EXPECT_LE(made.probed, shift_variation(0.5, 0.0625, 4) + 1e-14) << points;
        EXPECT_GT(made.probed, 0.05) << points;
    }
}

TEST(Aggregation, SmoothingMakesEveryCellPossibleAtItsPrice) {
    const std::vector<BaseLaw> bases{{"left", walk({0.5, 0.25, 0.25})}};
    const Aggregation made = aggregate(line, 2, bases, {.points = 1, .probes = 0, .smoothing = 0.08});
    EXPECT_EQ(made.law_error, 0.08);
    EXPECT_NEAR(chance(*made.features, 0, 3, 0, 7), 0.01, 1e-15);
    EXPECT_NEAR(chance(*made.features, 0, 3, 0, 2), 0.46 + 0.01, 1e-15);
    EXPECT_EQ(made.features->max_successors(), 8);
}

TEST(Aggregation, WorksInThePlane) {
    // A rotation by a quarter turn maps the four quadrants of a square onto each other.
    const Grid plane({{-1, 1, 2}, {-1, 1, 2}});
    const auto turn = [](std::span<const double> state, Action, std::span<const double> wind,
                         std::span<double> next) {
        next[0] = wind[0] > 0 ? -state[1] : state[0];
        next[1] = wind[0] > 0 ? state[0] : state[1];
    };
    const std::vector<BaseLaw> bases{{"turn", quadrature(plane, turn, {{{0}, 0.25}, {{1}, 0.75}})}};
    const Aggregation made = aggregate(plane, 1, bases, {.points = 1, .probes = 1});
    // Cells: 0 = (-,-), 1 = (-,+), 2 = (+,-), 3 = (+,+). A quarter turn: (+,+) -> (-,+) -> (-,-) -> (+,-).
    const std::array<State, 4> turned{2, 0, 3, 1};
    for (State s = 0; s < 4; ++s) {
        EXPECT_EQ(chance(*made.features, 0, s, 0, turned[static_cast<std::size_t>(s)]), 0.75);
        EXPECT_EQ(chance(*made.features, 0, s, 0, s), 0.25);
    }
}

/// The same system as halved_plus_uniform, to be drawn from.
void draw_halved(std::span<const double> state, Action, Stream& random, std::span<double> next) {
    next[0] = state[0] / 2 + sample_uniform(random) / 2;
}

double largest_variation(const FeatureMap& one, const FeatureMap& two) {
    double worst = 0;
    for (State s = 0; s < one.states(); ++s) {
        double distance = 0;
        for (State t = 0; t < one.states(); ++t)
            distance += std::abs(chance(one, 0, s, 0, t) - chance(two, 0, s, 0, t)) / 2;
        worst = std::max(worst, distance);
    }
    return worst;
}

TEST(AggregationBySampling, StaysWithinItsStatedErrorOfTheExactLaws) {
    // The claims fail with probability 1e-9 each. Uniform starts are compared with an average over many
    // points.
    const std::vector<BaseLaw> exact{{"uniform", halved_plus_uniform}};
    const std::vector<BaseSimulator> drawn{{"uniform", draw_halved}};
    for (const bool from_centre : {true, false}) {
        const SharedFeatures law =
            aggregate(line, 1, exact, {.points = from_centre ? 1 : 401, .probes = 0}).features;
        for (const std::int64_t samples : {100, 20'000}) {
            const Aggregation made = aggregate_samples(
                line, 1, drawn, {.samples = samples, .from_centre = from_centre, .failure = 1e-9, .seed = 5});
            EXPECT_EQ(made.failure_probability, 1e-9);
            EXPECT_DOUBLE_EQ(made.law_error, sampled_law_error(samples, 8, 8, 1e-9));
            EXPECT_LE(largest_variation(*made.features, *law), made.law_error);
            EXPECT_GT(largest_variation(*made.features, *law), made.law_error / 50);
        }
    }
}

TEST(AggregationBySampling, TheSameSeedGivesTheSameKernels) {
    const std::vector<BaseSimulator> drawn{{"one", draw_halved}, {"two", draw_halved}};
    const auto made = [&](std::uint64_t seed) {
        return *aggregate_samples(line, 1, drawn, {.samples = 50, .seed = seed}).features;
    };
    EXPECT_EQ(made(1), made(1));
    EXPECT_FALSE(made(1) == made(2));
    EXPECT_NE(made(1).base_kernel(0).probabilities, made(1).base_kernel(1).probabilities);
}

TEST(Aggregation, RefusesWhatIsNoLaw) {
    const std::vector<BaseLaw> thin{{"thin", [](auto, Action, CellMasses& law) { law.add(0, 0.5); }}};
    try {
        aggregate(line, 1, thin);
        FAIL();
    } catch (const InvalidArgument& refusal) {
        EXPECT_NE(std::string(refusal.what()).find("\"thin\""), std::string::npos);
        EXPECT_NE(std::string(refusal.what()).find("0.5"), std::string::npos);
    }
    const std::vector<BaseLaw> outside{{"outside", [](auto, Action, CellMasses& law) { law.add(8, 1); }}};
    const std::vector<BaseLaw> negative{{"negative", [](auto, Action, CellMasses& law) { law.add(0, -1); }}};
    const std::vector<BaseLaw> fine{{"walk", walk({0.5, 0.25, 0.25})}};
    EXPECT_THROW(aggregate(line, 1, outside), InvalidArgument);
    EXPECT_THROW(aggregate(line, 1, negative), InvalidArgument);
    EXPECT_THROW(aggregate(line, 0, fine), InvalidArgument);
    EXPECT_THROW(aggregate(line, 1, {}), InvalidArgument);
    EXPECT_THROW(aggregate(line, 1, fine, {.smoothing = 1}), InvalidArgument);
    EXPECT_THROW(aggregate(line, 1, fine, {.points = 0}), InvalidArgument);
    EXPECT_THROW(walk({0.5, 0.25, 0.3}), InvalidArgument);
    EXPECT_THROW(walk({0.5, 0.75, -0.25}), InvalidArgument);
    const std::vector<BaseSimulator> drawn{{"uniform", draw_halved}};
    EXPECT_THROW(aggregate_samples(line, 1, drawn, {.samples = 0}), InvalidArgument);
    EXPECT_THROW(aggregate_samples(line, 1, drawn, {.failure = 0}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::aggregation_test
