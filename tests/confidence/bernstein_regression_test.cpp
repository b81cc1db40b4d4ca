#include "alidade/confidence/bernstein_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"

namespace alidade::bernstein_regression_test {
namespace {

using detail::BernsteinRegression;

Task small_task(bool homogeneous, double misspecification = 0) {
    Task task = task_of(make_builtin("builtin:garnet?states=4&actions=2&features=3&horizon=5&successors=3"));
    task.homogeneous = homogeneous;
    task.misspecification = misspecification;
    return task;
}

BernsteinRegression regression(const Task& task, BernsteinRadii kind, std::int64_t episodes) {
    return BernsteinRegression({task.features, task.horizon, task.homogeneous, task.misspecification, 0.1},
                               kind, episodes);
}

// Zhou, Gu and Szepesvari's theorem by hand, for targets in [0,1] divided by a deviation of 1/sqrt(d) at
// least: base models divided by sqrt(d) have B = sqrt(d), so lambda = 1/d [theory §1.5].
TEST(BernsteinRegression, HasTheRadiiOfItsTheorem) {
    const double d = 3, horizon = 5;
    for (const bool pooled : {false, true}) {
        const double rows = pooled ? 4000 : 1000, failure = 0.1 / (16 * horizon);
        const double level = std::log(4 * rows * rows / failure);
        const double hat = 8 * std::sqrt(d * std::log(1 + rows * d) * level) + 4 * std::sqrt(d) * level + 1;
        const BernsteinRadius safe = regression(small_task(pooled), BernsteinRadii::safe, 1000).radii(0);
        EXPECT_NEAR(safe.weighted, hat, 1e-9 * hat);
        // Before the variances are known to be bounds, the deviation of a row may be sqrt(d).
        const double check =
            8 * std::sqrt(d) * std::sqrt(d * std::log(1 + rows * d) * level) + 4 * std::sqrt(d) * level + 1;
        EXPECT_NEAR(safe.coarse, check, 1e-9 * check);
        // Noise and deviation of squares are 1. Their rows are no longer than 1, too: the H^4 = 625 is that
        // of the printed form, and makes the radius a little larger than it need be.
        const auto squares = [&](double length) {
            return 8 * std::sqrt(d * std::log(1 + rows * length) * level) + 4 * level + 1;
        };
        EXPECT_NEAR(safe.squares, squares(625), 1e-9 * safe.squares);
        EXPECT_GT(safe.squares, squares(1));
        const BernsteinRadius printed =
            regression(small_task(pooled), BernsteinRadii::printed, 1000).radii(0);
        const double printed_hat =
            16 * std::sqrt(d * std::log(1 + rows * 25) * std::log(32 * rows * rows * horizon / 0.1)) + 1;
        EXPECT_NEAR(printed.weighted, std::max(printed_hat, hat), 1e-9 * hat);
    }
    // More rows than were planned count.
    const BernsteinRegression planned = regression(small_task(false), BernsteinRadii::safe, 1000);
    EXPECT_EQ(planned.radii(1000).weighted, planned.radii(10).weighted);
    EXPECT_GT(planned.radii(2000).weighted, planned.radii(1000).weighted);
    EXPECT_THROW(regression(small_task(false), BernsteinRadii::safe, 0), InvalidArgument);
}

// A misspecification moves estimates by no more than its share of the rows' weights.
TEST(BernsteinRegression, AllowsForAMisspecification) {
    const BernsteinRegression exact = regression(small_task(false), BernsteinRadii::safe, 1000),
                              off = regression(small_task(false, 0.1), BernsteinRadii::safe, 1000);
    detail::FiveStatistics statistics(3);
    const std::vector<double> row{0.2, 0.5, 0.3};
    for (detail::RidgeStatistics& rows : statistics.rows) rows.add(row.data(), 400, 100);
    statistics.inverse_variances = {900, 1600};
    const detail::FiveSolved without = exact.solve(statistics), with = off.solve(statistics);
    const double added[] = {0.1 * 30, 0.1 * 40, 0.1 * 20, 0.1 * 20, 0.1 * 20};
    for (std::size_t i = 0; i < detail::five; ++i)
        EXPECT_NEAR(with.radii[i] - without.radii[i], added[i], 1e-6);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(with.coarse[i] - without.coarse[i], added[i], 1e-6);
        EXPECT_GT(without.coarse[i], without.radii[i]);
    }
}

}  // namespace
}  // namespace alidade::bernstein_regression_test
