#include <gtest/gtest.h>

#include "alidade/problem/catalogue.hpp"
#include "problem/rows.hpp"

namespace alidade::gridworld_test {
namespace {

constexpr Action up = 0, right = 1, down = 2, left = 3;
constexpr Index none = 0, slip_left = 1, slip_right = 2, slip_uniform = 3;

TEST(Gridworld, MovesAndSlipsInTheMiddle) {
    // 3 by 3 cells, numbered row by row from the bottom: 4 is the middle, 7 above it, 5 to its right.
    const Problem problem = make_builtin("builtin:gridworld?width=3&height=3");
    EXPECT_LE(distance(base_row(problem, none, 4, up), {{7, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, none, 4, right), {{5, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, none, 4, down), {{1, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, none, 4, left), {{3, 1}}), 1e-15);
    // Left of up is left, left of left is down; right of up is right, right of left is up.
    EXPECT_LE(distance(base_row(problem, slip_left, 4, up), {{7, .8}, {3, .2}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_left, 4, left), {{3, .8}, {1, .2}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_right, 4, up), {{7, .8}, {5, .2}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_right, 4, left), {{3, .8}, {7, .2}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_uniform, 4, down), {{1, .85}, {3, .05}, {5, .05}, {7, .05}}),
              1e-15);
}

TEST(Gridworld, WallsKeepTheWalkerInPlace) {
    const Problem problem = make_builtin("builtin:gridworld?width=3&height=3&slip=0.5");
    EXPECT_LE(distance(base_row(problem, none, 0, left), {{0, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_left, 0, up), {{3, .5}, {0, .5}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_right, 8, up), {{8, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, slip_uniform, 0, down), {{0, .75}, {1, .125}, {3, .125}}), 1e-15);
}

TEST(Gridworld, IsNotSquareByAccident) {
    const Problem problem = make_builtin("builtin:gridworld?width=4&height=2");
    EXPECT_EQ(problem.shape(), (Shape{8, 4, 12}));
    EXPECT_EQ(problem.state_name(6), "2,1");
    EXPECT_EQ(problem.action_name(up), "up");
    EXPECT_LE(distance(base_row(problem, none, 3, up), {{7, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, none, 3, right), {{3, 1}}), 1e-15);
    EXPECT_LE(distance(base_row(problem, none, 4, left), {{4, 1}}), 1e-15);
}

TEST(Gridworld, RewardsTheOppositeCornerAndTheFreeCells) {
    const Problem problem = make_builtin("builtin:gridworld?width=3&height=3");
    ASSERT_EQ(problem.rewards().size(), 2u);
    const Reward& goal = problem.rewards()[0].reward;
    const Reward& avoid = problem.rewards()[1].reward;
    EXPECT_EQ(problem.rewards()[0].name, "goal");
    EXPECT_EQ(problem.rewards()[1].name, "avoid");
    for (State s = 0; s < 9; ++s) {
        for (Action a = 0; a < 4; ++a) {
            EXPECT_EQ(goal.at(2, s, a), s == 8 ? 1 : 0);
            EXPECT_EQ(avoid.at(2, s, a), s == 1 || s == 4 ? 0 : 1);
        }
    }
}

}  // namespace
}  // namespace alidade::gridworld_test
