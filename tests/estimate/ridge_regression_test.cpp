#include "alidade/estimate/ridge_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "support/dense_algebra.hpp"
#include "support/random_models.hpp"

namespace alidade::ridge_regression_test {
namespace {

TEST(RidgeRegression, SolvesTheNormalEquationsOfTheStackedRows) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed);
        const Index p = 1 + sample_index(random, 6), n = 50;
        Matrix rows(n, p);
        Vector targets(n);
        detail::RidgeStatistics statistics(p);
        for (Index t = 0; t < n; ++t) {
            for (Index i = 0; i < p; ++i) rows(t, i) = sample_normal(random);
            targets[t] = sample_uniform(random);
            const Vector x = rows.row(t).transpose();
            statistics.add(x.data(), 1, targets[t]);
        }
        const detail::RidgeEstimate estimate = detail::solve_ridge(statistics, 0.25);
        // Independent: minimise |X z - y|^2 + 0.25 |z|^2 by a full-pivot solve.
        const Matrix normal = rows.transpose() * rows + 0.25 * Matrix::Identity(p, p);
        const Vector expected = support::solve(normal, rows.transpose() * targets);
        EXPECT_LT((estimate.coordinates - expected).norm(), 1e-11);
        EXPECT_LT((estimate.precision - normal).norm(), 1e-11);
        EXPECT_NEAR(estimate.log_det_ratio,
                    std::log(support::determinant(normal)) - static_cast<double>(p) * std::log(0.25), 1e-10);
        EXPECT_DOUBLE_EQ(detail::log_det_ratio(statistics, 0.25), estimate.log_det_ratio);
    }
}

TEST(RidgeRegression, CountsRepeatsAsSeparateRows) {
    const Vector x = Vector::LinSpaced(3, 0.1, 0.7);
    detail::RidgeStatistics once(3), repeated(3);
    for (int t = 0; t < 5; ++t) once.add(x.data(), 1, t % 2);
    repeated.add(x.data(), 5, 2);
    EXPECT_LT((detail::solve_ridge(once, 0.25).coordinates - detail::solve_ridge(repeated, 0.25).coordinates)
                  .norm(),
              1e-14);
    EXPECT_EQ(repeated.observations, 5);
}

// T5 [theory §4; paper, L1288]: sum min(1, |x|^2 in the metric before x) <= 2 ln det <= 2 p ln(1 + n L^2/(p
// lambda)).
TEST(RidgeRegression, ObeysThePotentialLemma) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 1);
        const Index p = 1 + sample_index(random, 5);
        const int n = 400;
        detail::RidgeStatistics statistics(p);
        double potential = 0, longest = 0;
        for (int t = 0; t < n; ++t) {
            Vector x(p);
            for (Index i = 0; i < p; ++i)
                x[i] = sample_normal(random) * std::pow(10.0, -static_cast<double>(i));
            const detail::RidgeEstimate now = detail::solve_ridge(statistics, 0.25);
            potential += std::min(1.0, now.factor.triangularView<Eigen::Lower>().solve(x).squaredNorm());
            longest = std::max(longest, x.squaredNorm());
            statistics.add(x.data(), 1, 0);
        }
        const double log_det = detail::log_det_ratio(statistics, 0.25), dimension = static_cast<double>(p);
        EXPECT_LE(potential, 2 * log_det * (1 + 1e-12)) << "seed " << seed;
        EXPECT_LE(log_det, dimension * std::log(1 + n * longest / (dimension * 0.25)) * (1 + 1e-12));
    }
}

TEST(RidgeRegression, RefusesAZeroRegularisation) {
    EXPECT_THROW(detail::solve_ridge(detail::RidgeStatistics(2), 0.0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::ridge_regression_test
