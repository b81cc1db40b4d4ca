#include "alidade/explore/joint_ascent.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/certify/relaxation.hpp"
#include "support/effort.hpp"
#include "support/joint_problems.hpp"

namespace alidade::joint_ascent_test {
namespace {

using detail::JointAscent;
using detail::JointProblem;

/// The largest value over all policies, rewards and weights on a grid with both ends: two states, two
/// actions, three steps, two base models [theory §4, T28].
double brute_force(const JointProblem& problem) {
    constexpr int grid = 9;
    std::vector<std::vector<Vector>> weights;
    for (const detail::JointPart& part : problem.parts) {
        const auto ends = support::ends_of(part.set);
        weights.emplace_back();
        for (int k = 0; k < grid; ++k)
            weights.back().push_back(ends[0] + (ends[1] - ends[0]) * k / (grid - 1.0));
    }
    double best = 0;
    // What is done at the last step, and rewards at the first, make no difference; nor does the first step's
    // choice in a state other than the start.
    for (unsigned choice = 0; choice < 8; ++choice)
        for (unsigned reward = 0; reward < 16; ++reward) {
            const std::vector<Action> actions{choice & 1U, 0, (choice >> 1U) & 1U, (choice >> 2U) & 1U, 0, 0};
            std::vector<double> rewards(6, 0.0);
            for (unsigned k = 0; k < 4; ++k) rewards[2 + k] = (reward >> k) & 1U;
            for (const Vector& first : weights[0])
                for (const Vector& second : weights[1])
                    best = std::max(best,
                                    support::plain_joint_value(problem, actions, rewards, {first, second}));
        }
    return best;
}

// T28: never above the optimum, and hardly below it; the relaxation is
// never below it, nor above twice it. 20 instances, 30 and 1000 rows, radii 1 and 5.
TEST(JointAscent, ComesNearTheOptimumOfBruteForce) {
    const int instances = support::repetitions(20, 2);
    int problems = 0, hits = 0;
    double worst = 1, loosest = 0;
    for (int seed = 0; seed < instances; ++seed)
        for (const int rows : {30, 1000})
            for (const double radius : {1.0, 5.0}) {
                Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 143);
                const auto made = support::random_joint_problem(
                    random,
                    {.model = {.shape = {2, 2, 3}, .features = 2, .successors = 2, .concentration = 0.3},
                     .rows = rows,
                     .radius = radius});
                const double optimum = brute_force(made.problem);
                JointAscent ascent(made.problem, {.joint = true});
                double found = 0;
                for (std::uint64_t start = 0; start < 20; ++start)
                    found = std::max(found, ascent.climb(ascent.random_start(1, start)).value);
                EXPECT_LE(found, optimum * (1 + 1e-6));
                const double upper =
                    detail::relaxed_value(made.problem, detail::relaxation(made.problem, {}));
                EXPECT_GE(upper, optimum * (1 - 1e-9));
                worst = std::min(worst, found / optimum);
                loosest = std::max(loosest, upper / optimum);
                hits += found >= 0.999 * optimum ? 1 : 0;
                ++problems;
            }
    EXPECT_GE(worst, 0.95);
    EXPECT_GE(hits, 0.95 * problems);
    EXPECT_LE(loosest, 2);
    RecordProperty("worst", std::to_string(worst));
    RecordProperty("loosest", std::to_string(loosest));
    RecordProperty("hits", hits);
}

// With robust backups, weights fixed: the same two sides.
TEST(JointAscent, LiesBelowTheRelaxationOfRobustBackups) {
    for (int seed = 0; seed < support::repetitions(40, 6); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 144);
        support::JointSizes sizes{.model = {.shape = {3, 2, 4}, .features = 3, .successors = 3},
                                  .rows = 100,
                                  .radius = 1,
                                  .robust = true,
                                  .clipped = seed % 2 == 0};
        sizes.model.homogeneous = seed % 3 == 0;
        const auto made = support::random_joint_problem(random, sizes);
        const auto found = detail::maximise(made.problem, {}, std::nullopt, 1);
        const double upper = detail::relaxed_value(made.problem, detail::relaxation(made.problem, {}));
        const double attained = detail::attained_value(made.problem, found.point);
        EXPECT_GT(attained, 0);
        EXPECT_LE(attained, upper * (1 + 1e-9));
    }
}

TEST(JointAscent, NeverGoesDown) {
    for (int seed = 0; seed < support::repetitions(40, 8); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 145);
        support::JointSizes sizes{.model = {.shape = {5, 3, 4}, .features = 3, .successors = 3}};
        sizes.robust = seed % 2 == 0;
        sizes.clipped = seed % 3 == 0;
        sizes.model.homogeneous = seed % 4 == 0;
        const auto made = support::random_joint_problem(random, sizes);
        JointAscent ascent(made.problem, {.joint = seed % 5 != 0});
        const auto found = ascent.climb(ascent.random_start(2, 3));
        EXPECT_EQ(ascent.trace().back(), found.value);
        for (std::size_t k = 1; k < ascent.trace().size(); ++k)
            EXPECT_GE(ascent.trace()[k], ascent.trace()[k - 1]);
        // What it found is a point of the problem.
        for (std::size_t k = 0; k < made.problem.parts.size(); ++k)
            EXPECT_LE(made.problem.parts[k].set.depth(found.point.weights[k]), 1 + 1e-5);
        EXPECT_EQ(detail::JointValues(made.problem, found.point).value(), found.value);
    }
}

// With radii that clip everything the search must still see where to look: they are scaled
// down, and up again by twice at most.
TEST(JointAscent, ScalesRadiiDownWhereEverythingIsClipped) {
    Stream random = support::test_stream(146);
    const auto made =
        support::random_joint_problem(random, {.model = {.shape = {5, 3, 5}, .features = 3, .successors = 3},
                                               .rows = 1000,
                                               .radius = 1e4,
                                               .clipped = true});
    EXPECT_EQ(detail::relaxed_value(made.problem, detail::relaxation(made.problem, {})), 4);
    const auto found = detail::maximise(made.problem, {.joint = true}, std::nullopt, 1);
    EXPECT_LT(found.scale, 0.1);
    EXPECT_LT(found.value, 0.9 * 4);
    EXPECT_GT(found.value, 0.3 * 4);
    auto easy = support::random_joint_problem(
        random,
        {.model = {.shape = {5, 3, 5}, .features = 3}, .rows = 100'000, .radius = 0.01, .clipped = true});
    const auto next = detail::maximise(easy.problem, {}, found, 2);
    EXPECT_DOUBLE_EQ(next.scale, 2 * found.scale);
}

TEST(JointAscent, IsTheSameFromTheSameData) {
    Stream random = support::test_stream(147);
    const auto made =
        support::random_joint_problem(random, {.model = {.shape = {5, 3, 4}, .features = 3}, .rows = 300});
    const auto first = detail::maximise(made.problem, {.joint = true}, std::nullopt, 7);
    const auto second = detail::maximise(made.problem, {.joint = true}, std::nullopt, 7);
    EXPECT_EQ(first.point, second.point);
    EXPECT_EQ(first.value, second.value);
}

}  // namespace
}  // namespace alidade::joint_ascent_test
