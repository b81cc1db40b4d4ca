#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"

// T20 [theory §4]: how the episodes to a certificate grow. experiments/scaling.py measures the same over more
// points and draws it.
namespace alidade::scaling_test {
namespace {

double episodes_to(Index features, Index horizon, double target, int seed, const char* confidence) {
    const Problem problem = make_builtin(
        "builtin:garnet?states=8&actions=3&successors=8&concentration=0.5&features=" +
        std::to_string(features) + "&horizon=" + std::to_string(horizon) + "&seed=" + std::to_string(seed));
    CountSplittingDeployer system(problem.true_model(), 1);
    Exploration exploration(task_of(problem), {.algorithm = "hoeffding",
                                               .confidence = confidence,
                                               .seed = 1,
                                               .schedule = parse_schedule("growth=0.05")});
    EXPECT_EQ(exploration.run(system, {.episodes = 2'000'000'000, .target = target}), Stopped::target);
    return static_cast<double>(exploration.explorer().episodes());
}

double median_episodes(Index features, Index horizon, double target, const char* confidence) {
    const int seeds = support::runs(1, 5);
    std::vector<double> found;
    for (int seed = 1; seed <= seeds; ++seed)
        found.push_back(episodes_to(features, horizon, target, seed, confidence));
    std::ranges::sort(found);
    return found[found.size() / 2];
}

/// Slope of the least-squares line through (log x, log y).
double slope(const std::vector<double>& x, const std::vector<double>& y) {
    const auto n = static_cast<double>(x.size());
    double mx = 0, my = 0, xy = 0, xx = 0;
    for (std::size_t i = 0; i < x.size(); ++i) mx += std::log(x[i]) / n, my += std::log(y[i]) / n;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xy += (std::log(x[i]) - mx) * (std::log(y[i]) - my);
        xx += (std::log(x[i]) - mx) * (std::log(x[i]) - mx);
    }
    return xy / xx;
}

TEST(Scaling, IsQuadraticInTheAccuracyButForLogarithms) {
    std::vector<double> inverse, episodes;
    for (const double epsilon : {1.0, 0.5, 0.25, 0.125}) {
        inverse.push_back(1 / epsilon);
        episodes.push_back(median_episodes(3, 4, epsilon, "regression?without=span+divergences+chains"));
    }
    const double found = slope(inverse, episodes);
    EXPECT_GT(found, 1.95);
    EXPECT_LT(found, 2.35);
}

// Measured in the study: 2.09; Theorem 1 has 2.
TEST(Scaling, IsAboutQuadraticInTheDimension) {
    std::vector<double> dimension, episodes;
    for (const Index d : {3, 5, 7, 9}) {
        dimension.push_back(static_cast<double>(d - 1));
        episodes.push_back(median_episodes(d, 4, 0.5, "regression?without=span+divergences+chains"));
    }
    const double found = slope(dimension, episodes);
    EXPECT_GT(found, 1.4);
    EXPECT_LT(found, 2.5);
}

// Measured in the study: 4.9 over H = 3..12, where (H(H-1)/2)^2 alone gives 4.46; the span saves about one.
TEST(Scaling, InTheHorizonIsThatOfTheSumOfRangesAndLessWithTheSpan) {
    std::vector<double> horizon, plain, spanned;
    for (const Index steps : {3, 5, 8, 12}) {
        horizon.push_back(static_cast<double>(steps));
        plain.push_back(median_episodes(3, steps, 0.5, "regression?without=span+divergences+chains"));
        spanned.push_back(median_episodes(3, steps, 0.5, "regression?without=divergences+chains"));
    }
    const double without = slope(horizon, plain), with = slope(horizon, spanned);
    EXPECT_GT(without, 4.2);
    EXPECT_LT(without, 5.5);
    EXPECT_LT(with, without - 0.4);
}

}  // namespace
}  // namespace alidade::scaling_test
