#include "alidade/confidence/weighted_regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/learned_models.hpp"
#include "support/random_models.hpp"

namespace alidade::weighted_regression_set_test {
namespace {

SharedFeatures coins(double one, double other) {
    const BaseKernel a{"a", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {one, 1 - one, one, 1 - one}};
    const BaseKernel b{"b", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {other, 1 - other, other, 1 - other}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
}

// The coarse set knows nothing yet: p is between those of the base models.
TEST(WeightedRegression, BoundsVariancesByTheCoarseSet) {
    const auto variance = [](double one, double other, double zeta) {
        const SharedFeatures features = coins(one, other);
        const detail::WeightedRegression regression({features, 2, false, zeta, 0.1});
        const auto solved =
            regression.coarse().solve(std::vector{detail::RidgeStatistics(regression.coarse().dimension())});
        return regression.variance(solved.front().set, features->phi(0));
    };
    EXPECT_NEAR(variance(0.1, 0.3, 0), 0.21, 1e-9);
    EXPECT_NEAR(variance(0.9, 0.7, 0), 0.21, 1e-9);
    EXPECT_NEAR(variance(0.1, 0.7, 0), 0.25, 1e-9);
    EXPECT_NEAR(variance(0.1, 0.3, 0.02), 0.23, 1e-9);
    EXPECT_EQ(variance(0, 1e-6, 0), 1.0 / 2000);
    EXPECT_EQ(variance(1, 1 - 1e-6, 0), 1.0 / 2000);
}

// Any V in [0,1]: the largest mean of (V - c)^2 that the coarse set leaves possible, and never above 1/4.
TEST(WeightedRegression, BoundsVariancesOfAnyValue) {
    const auto variance = [](double one, double other, double zeta, double centre) {
        const SharedFeatures features = coins(one, other);
        const detail::WeightedRegression regression({features, 2, false, zeta, 0.1});
        const auto solved =
            regression.coarse().solve(std::vector{detail::RidgeStatistics(regression.coarse().dimension())});
        // V is 1 at the first successor and 0.4 at the second.
        const std::vector<double> square{(1 - centre) * (1 - centre), (0.4 - centre) * (0.4 - centre)};
        const Vector phi = features->phi_value(0, square);
        return regression.variance_about(solved.front().set, {phi.data(), 2});
    };
    // 0.3 * 0.49 + 0.7 * 0.01 about 0.3 is more than the variance, 0.36 * 0.21; about the mean it is that.
    EXPECT_NEAR(variance(0.1, 0.3, 0, 0.3), 0.3 * 0.49 + 0.7 * 0.01, 1e-9);
    EXPECT_NEAR(variance(0.3, 0.3, 0, 0.58), 0.36 * 0.21, 1e-9);
    EXPECT_NEAR(variance(0.3, 0.3, 0.02, 0.58), 0.36 * 0.21 + 0.02, 1e-9);
    EXPECT_EQ(variance(0.1, 0.9, 0, 0), 0.25);
    EXPECT_EQ(variance(0, 0, 0, 0.4), 1.0 / 2000);
}

TEST(WeightedStatistics, AddRowsDividedByTheirDeviation) {
    detail::WeightedStatistics statistics(2, 3);
    const std::vector<double> x{1, -2};
    statistics.add(1, x, 3, 0.6, 0.25);
    statistics.add(1, x, 1, 0.1, 0.04);
    EXPECT_DOUBLE_EQ(statistics.rows.gram(0, 0), 3 / 0.25 + 1 / 0.04);
    EXPECT_DOUBLE_EQ(statistics.rows.gram(1, 0), -2 * (3 / 0.25 + 1 / 0.04));
    EXPECT_DOUBLE_EQ(statistics.rows.moment[1], -2 * (0.6 / 0.25 + 0.1 / 0.04));
    EXPECT_EQ(statistics.rows.observations, 4);
    EXPECT_DOUBLE_EQ(statistics.inverse_variances, 3 / 0.25 + 1 / 0.04);
    EXPECT_EQ(statistics.least_variance[1], 0.04);
    EXPECT_EQ(statistics.least_variance[0], std::numeric_limits<double>::infinity());
}

/// The sets of n visits without noise, with and without weights.
std::pair<ConfidenceSet, ConfidenceSet> both(const detail::WeightedRegression& regression,
                                             const FeatureMap& features, const Vector& truth, double visits) {
    const detail::ValueRegression& coarse = regression.coarse();
    const Index p = coarse.dimension();
    const Vector feature = coarse.features().psi(0);
    const std::span<const double> psi(feature.data(), static_cast<std::size_t>(p));
    const double residuals =
        visits * Eigen::Map<const Vector>(psi.data(), p).dot(coarse.features().space.coordinates(truth));
    detail::RidgeStatistics plain(p);
    plain.add(psi.data(), static_cast<std::int64_t>(visits), residuals);
    const auto solved = coarse.solve(std::vector{plain});
    detail::WeightedStatistics weighted(p, features.pairs());
    weighted.add(0, psi, static_cast<std::int64_t>(visits), residuals,
                 regression.variance(solved.front().set, features.phi(0)));
    return {solved.front().set, regression.solve(solved, std::vector{weighted}, {}, 1).front()};
}

// With chances of 0.01 and 0.03 a row is worth ten times a plain one, in time.
TEST(WeightedRegression, IsSmallerWhereTransitionsAreRare) {
    const SharedFeatures features = coins(0.01, 0.03);
    const detail::WeightedRegression regression({features, 2, false, 0, 0.1});
    const Vector truth = Vector::Constant(2, 0.5);
    const auto width = [&](const ConfidenceSet& set) {
        const Interval range = set.range(features->phi(0));
        return range.upper - range.lower;
    };
    const auto [few_plain, few] = both(regression, *features, truth, 10);
    EXPECT_LE(width(few), width(few_plain));
    const auto [plain, weighted] = both(regression, *features, truth, 1e6);
    // Deviations of 0.14 instead of 1/2, at worse constants.
    EXPECT_LT(width(weighted), 0.5 * width(plain));
    EXPECT_GT(width(weighted), 0.2 * width(plain));
    EXPECT_TRUE(weighted.contains(truth));
}

// For a fair coin nothing is to be gained, and the share of delta is lost.
TEST(WeightedRegression, IsThePlainSetWhereVariancesAreLarge) {
    const SharedFeatures features = coins(0.4, 0.6);
    const detail::WeightedRegression regression({features, 2, false, 0, 0.1});
    const auto [plain, weighted] = both(regression, *features, Vector::Constant(2, 0.5), 1e6);
    const auto width = [&](const ConfidenceSet& set) {
        const Interval range = set.range(features->phi(0));
        return range.upper - range.lower;
    };
    EXPECT_LE(width(weighted), width(plain) * (1 + 1e-9));
    EXPECT_GT(width(weighted), 0.9 * width(plain));
}

}  // namespace
}  // namespace alidade::weighted_regression_set_test
