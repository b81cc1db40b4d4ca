#include <gtest/gtest.h>

#include <vector>

#include "alidade/problem/catalogue.hpp"
#include "problem/rows.hpp"

/// Rows of riverswim, chain and lock, calculated by hand from their definitions.
namespace alidade::lines_and_locks_test {
namespace {

constexpr double rounding = 1e-15;

TEST(Riverswim, SwimsLeftSurelyAndRightAgainstTheCurrent) {
    const Problem problem = make_builtin("builtin:riverswim?length=12&horizon=20");
    for (Index base = 0; base < 4; ++base) {
        EXPECT_LE(distance(base_row(problem, base, 0, 0), {{0, 1}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 7, 0), {{6, 1}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 11, 0), {{10, 1}}), rounding);
        // p = 0.6: stay 0.8 * 0.4 = 0.32, left 0.2 * 0.4 = 0.08, which stays at the left end.
        EXPECT_LE(distance(base_row(problem, base, 0, 1), {{0, .40}, {1, .60}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 7, 1), {{6, .08}, {7, .32}, {8, .60}}), rounding);
    }
    EXPECT_EQ(problem.action_name(1), "right");
}

TEST(Riverswim, DrawsTheCurrentOfTheLastThirdPerStateAndBaseModel) {
    const Problem problem = make_builtin("builtin:riverswim?length=12&horizon=20");
    std::vector<double> seen;
    for (State s = 8; s < 11; ++s) {
        for (Index base = 0; base < 4; ++base) {
            const Row row = base_row(problem, base, s, 1);
            const double p = row.at(s + 1);
            EXPECT_GE(p, 0.1);
            EXPECT_LT(p, 0.9);
            EXPECT_LE(distance(row, {{s - 1, .2 * (1 - p)}, {s, .8 * (1 - p)}, {s + 1, p}}), rounding);
            for (double other : seen) EXPECT_NE(p, other);
            seen.push_back(p);
        }
    }
    // At the right end: left 0.2(1-p) with p in [0.1, 0.9), everything else stays.
    const Row end = base_row(problem, 2, 11, 1);
    EXPECT_EQ(end.size(), 2u);
    EXPECT_GT(end.at(10), 0.02 - rounding);
    EXPECT_LE(end.at(10), 0.18);
    EXPECT_NEAR(end.at(11), 1 - end.at(10), rounding);
}

TEST(Riverswim, TwoThirdsAreCountedInWholeStates) {
    // length 10: 2/3 of it is 6.67, so states 0 .. 6 have p = 0.6 and state 7 is drawn.
    const Problem problem = make_builtin("builtin:riverswim?length=10");
    EXPECT_NEAR(base_row(problem, 0, 6, 1).at(7), 0.6, rounding);
    EXPECT_GT(std::abs(base_row(problem, 0, 7, 1).at(8) - base_row(problem, 1, 7, 1).at(8)), 1e-6);
}

TEST(Riverswim, HalvesDifferOnTheRightHalfOnly) {
    const Problem problem = make_builtin("builtin:riverswim?variant=halves");
    const std::vector<Row> middle{
        {{5, .05}, {6, .25}, {7, .70}}, {{5, .10}, {6, .50}, {7, .40}}, {{5, .50}, {6, .30}, {7, .20}}};
    for (Index base = 0; base < 3; ++base) {
        EXPECT_LE(distance(base_row(problem, base, 0, 0), {{0, .95}, {1, .05}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 6, 0), {{5, .80}, {6, .15}, {7, .05}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 0, 1), {{0, .30}, {1, .70}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 4, 1), {{3, .05}, {4, .25}, {5, .70}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 6, 1), middle[static_cast<std::size_t>(base)]), rounding);
    }
    EXPECT_LE(distance(base_row(problem, 2, 5, 1), {{4, .50}, {5, .30}, {6, .20}}), rounding);
    EXPECT_LE(distance(base_row(problem, 1, 9, 1), {{8, .10}, {9, .90}}), rounding);
    EXPECT_LE(distance(base_row(problem, 0, 9, 0), {{8, .80}, {9, .20}}), rounding);
}

TEST(Riverswim, ClassicRewardIsAtTheEnds) {
    const Problem problem = make_builtin("builtin:riverswim?variant=halves");
    ASSERT_EQ(problem.rewards().size(), 2u);
    const Reward& reward = problem.rewards().front().reward;
    EXPECT_EQ(reward.at(3, 0, 0), 0.005);
    EXPECT_EQ(reward.at(3, 9, 1), 1);
    EXPECT_EQ(reward.at(3, 9, 0) + reward.at(3, 0, 1) + reward.at(3, 5, 1), 0);
}

TEST(Chain, BaseModelsDifferOnInterleavedStates) {
    const Problem problem = make_builtin("builtin:chain?actions=3");
    // d = 5: base i differs where s mod 4 = i - 1. Left 0.6(1-q), stay 0.4(1-q).
    const Row slow{{1, .57}, {2, .38}, {3, .05}}, fast{{1, .18}, {2, .12}, {3, .70}};
    EXPECT_LE(distance(base_row(problem, 0, 2, 0), slow), rounding);
    EXPECT_LE(distance(base_row(problem, 0, 2, 1), fast), rounding);
    EXPECT_LE(distance(base_row(problem, 1, 2, 1), fast), rounding);
    EXPECT_LE(distance(base_row(problem, 3, 2, 0), {{1, .42}, {2, .28}, {3, .30}}), rounding);
    EXPECT_LE(distance(base_row(problem, 3, 2, 1), {{1, .48}, {2, .32}, {3, .20}}), rounding);
    EXPECT_LE(distance(base_row(problem, 2, 1, 1), {{0, .03}, {1, .02}, {2, .95}}), rounding);
    // Action 2 in base 0: q = 0.5 * 0.7 + 0.25 = 0.6; in base 3 on its state: 0.5 * 0.2 + 0.25 = 0.35.
    EXPECT_LE(distance(base_row(problem, 0, 2, 2), {{1, .24}, {2, .16}, {3, .60}}), rounding);
    EXPECT_LE(distance(base_row(problem, 3, 2, 2), {{1, .39}, {2, .26}, {3, .35}}), rounding);
    // The ends fold in; state 4 is base 1's again (4 mod 4 = 0), state 5 base 2's.
    EXPECT_LE(distance(base_row(problem, 1, 0, 0), {{0, .70}, {1, .30}}), rounding);
    EXPECT_LE(distance(base_row(problem, 1, 4, 1), {{3, .48}, {4, .32}, {5, .20}}), rounding);
    EXPECT_LE(distance(base_row(problem, 2, 5, 1), {{4, .03}, {5, .97}}), rounding);
}

/// How many actions of a state lead on for sure (or nearly), the same in all base models.
Index keys(const Problem& problem, State s, double advance) {
    Index found = 0;
    for (Action a = 0; a < problem.shape().actions; ++a) {
        const Row row = base_row(problem, 0, s, a);
        if (row.contains(s + 1) && std::abs(row.at(s + 1) - advance) < rounding) ++found;
        for (Index base = 1; base < problem.features().features(); ++base)
            EXPECT_EQ(distance(row, base_row(problem, base, s, a)), 0);
    }
    return found;
}

TEST(Lock, EndHasOneKeyAPositionAndDiffersAtTheLastOnly) {
    const Problem problem = make_builtin("builtin:lock?length=6&actions=3&features=4&outcomes=5");
    const State dead = 6, first_end = 7;
    EXPECT_EQ(problem.shape(), (Shape{12, 3, 7}));
    for (State s = 0; s < 5; ++s) {
        EXPECT_EQ(keys(problem, s, 1), 1) << s;
        for (Action a = 0; a < 3; ++a) {
            const Row row = base_row(problem, 0, s, a);
            EXPECT_EQ(row.size(), 1u);
            EXPECT_TRUE(row.contains(s + 1) || row.contains(dead));
        }
    }
    for (Action a = 0; a < 3; ++a) {
        for (Index base = 0; base < 4; ++base) {
            const Row row = base_row(problem, base, 5, a);
            EXPECT_GE(row.begin()->first, first_end);
            if (base > 0) {
                EXPECT_GT(distance(row, base_row(problem, 0, 5, a)), 1e-6);
            }
            if (a > 0) {
                EXPECT_GT(distance(row, base_row(problem, base, 5, 0)), 1e-6);
            }
        }
        for (State s = dead; s < 12; ++s) EXPECT_LE(distance(base_row(problem, 3, s, a), {{s, 1}}), 0);
    }
    EXPECT_EQ(problem.state_name(5), "position 5");
    EXPECT_EQ(problem.state_name(dead), "dead");
    EXPECT_EQ(problem.state_name(first_end), "end 1");
}

TEST(Lock, KeysAreDrawnPerPosition) {
    // All 99 keys of a long lock are equal with probability 3^-98, and one action is never the key with
    // probability at most 3 (2/3)^99 < 2e-17.
    const Problem problem = make_builtin("builtin:lock?length=100&actions=3&features=1&outcomes=1");
    std::vector<Index> times(3, 0);
    for (State s = 0; s < 99; ++s)
        for (Action a = 0; a < 3; ++a)
            times[static_cast<std::size_t>(a)] += base_row(problem, 0, s, a).contains(s + 1) ? 1 : 0;
    for (Index count : times) EXPECT_GT(count, 0);
    EXPECT_EQ(times[0] + times[1] + times[2], 99);
}

TEST(Lock, DeepIsInformativeAtTheLastTwoPositions) {
    const Problem problem = make_builtin("builtin:lock?variant=deep&length=7&actions=3&horizon=9");
    const State end1 = 7, end2 = 8, end3 = 9, sink = 10;
    for (State s = 0; s < 5; ++s) {
        EXPECT_EQ(keys(problem, s, .95), 1) << s;
        for (Action a = 0; a < 3; ++a) {
            const Row row = base_row(problem, 0, s, a);
            const bool key = row.contains(s + 1) && row.at(s + 1) > .9;
            EXPECT_LE(distance(row, key ? Row{{s + 1, .95}, {sink, .05}} : Row{{0, .5}, {sink, .5}}),
                      rounding);
        }
    }
    for (State s : {State{5}, State{6}}) {
        for (Action a = 0; a < 3; ++a) {
            for (Index base = 0; base < 3; ++base) {
                const Row row = base_row(problem, base, s, a);
                ASSERT_EQ(row.size(), 4u);
                if (a > 0) {
                    EXPECT_GT(distance(row, base_row(problem, base, s, 0)), 1e-6);
                }
                for (State next : {s == 5 ? State{6} : end1, end2, end3, sink})
                    EXPECT_GE(row.at(next), 0.025);
                if (base > 0) {
                    EXPECT_GT(distance(row, base_row(problem, 0, s, a)), 1e-6);
                }
            }
        }
    }
    for (State s = end1; s <= sink; ++s) EXPECT_LE(distance(base_row(problem, 1, s, 2), {{s, 1}}), 0);
    EXPECT_EQ(problem.state_name(sink), "sink");
    EXPECT_EQ(problem.state_name(end3), "end 3");
}

TEST(Lock, ResetStartsOverAndDiffersAtTheTwoDeepest) {
    const Problem problem = make_builtin("builtin:lock?variant=reset");
    for (Index base = 0; base < 4; ++base) {
        EXPECT_LE(distance(base_row(problem, base, 0, 0), {{0, .1}, {1, .9}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 0, 1), {{0, 1}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 3, 0), {{3, .1}, {4, .9}}), rounding);
        EXPECT_LE(distance(base_row(problem, base, 3, 2), {{0, .95}, {3, .05}}), rounding);
    }
    // S = 6: 0.3 / 6 = 0.05 everywhere, and 0.7 more on (i + a) mod 6 at state 4, (i + 2a) mod 6 at 5.
    const auto peaked = [](State peak) {
        Row row;
        for (State s = 0; s < 6; ++s) row[s] = s == peak ? .75 : .05;
        return row;
    };
    EXPECT_LE(distance(base_row(problem, 0, 4, 0), peaked(0)), rounding);
    EXPECT_LE(distance(base_row(problem, 3, 4, 2), peaked(5)), rounding);
    EXPECT_LE(distance(base_row(problem, 1, 5, 2), peaked(5)), rounding);
    EXPECT_LE(distance(base_row(problem, 3, 5, 2), peaked(1)), rounding);
}

}  // namespace
}  // namespace alidade::lines_and_locks_test
