#include "alidade/confidence/confidence_set.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/confidence/value_regression.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/error.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/radii.hpp"
#include "support/dense_algebra.hpp"
#include "support/random_models.hpp"

namespace alidade::confidence_set_test {
namespace {

/// A set from random regression rows; `shift` pushes the estimate out of the simplex.
ConfidenceSet random_set(std::uint64_t seed, Index d, double radius, double shift) {
    Stream random = support::test_stream(seed);
    detail::RidgeStatistics statistics(d - 1);
    for (int t = 0; t < 30; ++t) {
        Vector x(d - 1);
        for (Index i = 0; i + 1 < d; ++i) x[i] = 0.5 * sample_normal(random);
        statistics.add(x.data(), 1, shift * sample_normal(random));
    }
    return ConfidenceSet(ParameterSet::simplex(d), detail::solve_ridge(statistics, 0.25), radius);
}

/// Members of the set: points of the simplex, drawn and kept if they are inside.
std::vector<Vector> some_members(const ConfidenceSet& set, std::uint64_t seed, int tries) {
    Stream random = support::test_stream(seed, 1);
    std::vector<Vector> members = {set.weights()};
    for (int t = 0; t < tries; ++t) {
        const auto law = sample_dirichlet(random, set.features(), 0.7);
        Vector weights = Eigen::Map<const Vector>(law.data(), set.features());
        // Pull towards the centre of the set until inside: the set is convex.
        while (!set.contains(weights)) {
            weights = 0.5 * (weights + set.weights());
            if ((weights - set.weights()).norm() < 1e-6) break;
        }
        if (set.contains(weights)) members.push_back(weights);
    }
    return members;
}

// T11 [theory §4]: the bound is never below a feasible value, and near the best of many when d = 3.
TEST(ConfidenceSet, RangeContainsTheValueOfEveryMember) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 5);
        const ConfidenceSet set = random_set(seed, d, 0.6, 0.3);
        Stream random = support::test_stream(seed, 2);
        const auto members = some_members(set, seed, 60);
        for (int k = 0; k < 10; ++k) {
            Vector f(d);
            for (Index i = 0; i < d; ++i) f[i] = sample_normal(random);
            const Interval range = set.range({f.data(), static_cast<std::size_t>(d)});
            // The upper end alone is the same number, of tiny directions too.
            EXPECT_EQ(set.upper({f.data(), static_cast<std::size_t>(d)}), range.upper);
            const Vector tiny = 1e-150 * f;
            const std::span small(tiny.data(), static_cast<std::size_t>(d));
            EXPECT_EQ(set.upper(small), set.range(small).upper);
            for (const Vector& member : members) {
                EXPECT_LE(member.dot(f), range.upper + 1e-12) << "seed " << seed;
                EXPECT_GE(member.dot(f), range.lower - 1e-12) << "seed " << seed;
            }
            EXPECT_LE(range.upper, f.maxCoeff() + 1e-15);
            EXPECT_DOUBLE_EQ(range.lower, -set.support(-f));
        }
    }
}

// T11 by brute force in the plane: the largest value over a fine grid of the triangle, cut with the ellipse.
TEST(ConfidenceSet, SupportIsAboveTheBruteForceMaximumInThePlane) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const ConfidenceSet set = random_set(seed, 3, 0.5, 0.6);
        const Vector f = (Vector(3) << 1, -0.4, 0.2).finished();
        double best = -10;
        const int n = 300;
        for (int i = 0; i <= n; ++i)
            for (int j = 0; i + j <= n; ++j) {
                const Vector w = (Vector(3) << i, j, n - i - j).finished() / n;
                if (set.contains(w)) best = std::max(best, w.dot(f));
            }
        EXPECT_GE(set.support(f), best - 1e-12) << "seed " << seed;
    }
}

TEST(ConfidenceSet, IsTheBallWhenTheSimplexDoesNotBind) {
    // Much data at the centre: the support is the closed form centre.f + radius |f| in the dual metric.
    detail::RidgeStatistics statistics(2);
    statistics.gram = 1e6 * Matrix::Identity(2, 2);
    const ConfidenceSet set(ParameterSet::simplex(3), detail::solve_ridge(statistics, 0.25), 2.0);
    const Vector f = (Vector(3) << 1, 0, 0).finished();
    // The tangent part of e_1 has norm sqrt(2/3).
    EXPECT_NEAR(set.support(f), 1.0 / 3 + 2 * std::sqrt(2.0 / 3) / std::sqrt(1e6 + 0.25), 1e-12);
    EXPECT_NEAR(set.refined_radius(), 2.0, 1e-9);
}

TEST(ConfidenceSet, ExactSupportIsBetweenMembersAndTheClosedForm) {
    int tighter = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 5);
        const ConfidenceSet set = random_set(seed, d, 0.6, 0.3);
        Stream random = support::test_stream(seed, 2);
        const auto members = some_members(set, seed, 60);
        Vector f(d);
        for (Index i = 0; i < d; ++i) f[i] = sample_normal(random);
        const SupportBracket bracket = set.exact_support({f.data(), static_cast<std::size_t>(d)});
        EXPECT_LE(bracket.upper, set.support(f));
        EXPECT_LE(bracket.upper - bracket.lower, 1e-8) << "seed " << seed;
        EXPECT_LE(set.depth(bracket.witness), 1 + 1e-12);
        EXPECT_TRUE(set.parameters().contains(bracket.witness));
        for (const Vector& member : members) EXPECT_LE(member.dot(f), bracket.upper + 1e-12);
        tighter += bracket.upper < set.support(f) - 1e-6;
    }
    EXPECT_GE(tighter, 3);  // few are left where the closed form is not the maximum
}

// What range knows beyond the two balls and the simplex alone: never below the maximum of the solver, and
// most of the way from the closed forms to it.
TEST(ConfidenceSet, CutsTheBallAtTheFacesThatItCrosses) {
    double by_closed_forms = 0, by_range = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 6);
        const ConfidenceSet set = random_set(seed, d, 0.5 + 0.1 * static_cast<double>(seed % 9), 0.3);
        Stream random = support::test_stream(seed, 3);
        for (int k = 0; k < 5; ++k) {
            Vector f(d);
            for (Index i = 0; i < d; ++i) f[i] = sample_normal(random);
            const double norm = set.dual_norm(set.parameters().space().basis.transpose() * f);
            const double ball =
                std::min({set.weights().dot(f) + set.refined_radius() * norm,
                          set.estimated_weights().dot(f) + set.radius() * norm, f.maxCoeff()});
            // A member's value, by the solver alone: exact_support would cut it at what range says.
            const double exact =
                set.support_function().bracket({f.data(), static_cast<std::size_t>(d)}).lower;
            EXPECT_GE(set.support(f), exact - 1e-12) << "seed " << seed;
            EXPECT_LE(set.support(f), ball + 1e-12) << "seed " << seed;
            by_closed_forms += ball - exact;
            by_range += set.support(f) - exact;
        }
    }
    RecordProperty("left", std::to_string(by_range / by_closed_forms));
    EXPECT_LT(by_range, 0.4 * by_closed_forms);
}

TEST(ConfidenceSet, ProjectsWeightsInItsOwnMetric) {
    const ConfidenceSet set = random_set(3, 4, 0.6, 0.3);
    const Projection again = set.project(set.estimated_weights());
    EXPECT_LT((again.weights - set.weights()).norm(), 1e-12);
    EXPECT_NEAR(again.residual, set.projection().residual, 1e-12);
    EXPECT_LT((set.project(set.weights()).weights - set.weights()).norm(), 1e-14);
    EXPECT_THROW(set.project(Vector::Zero(3)), InvalidArgument);
}

TEST(ConfidenceSet, RecordsGiveTheSameBytesBack) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Index d = 1 + static_cast<Index>(seed % 6);
        const ConfidenceSet set = random_set(seed, d, 0.6, 0.3);
        const ConfidenceRecord record = set.record();
        const ConfidenceSet copy = ConfidenceSet::from_record(record);
        EXPECT_EQ(copy.record(), record);
        EXPECT_EQ(copy.refined_radius(), set.refined_radius());
        EXPECT_EQ(copy.weights(), set.weights());
        Stream random = support::test_stream(seed, 6);
        Vector f(d);
        for (Index i = 0; i < d; ++i) f[i] = sample_normal(random);
        const std::span<const double> direction(f.data(), static_cast<std::size_t>(d));
        EXPECT_EQ(copy.range(direction).lower, set.range(direction).lower);
        EXPECT_EQ(copy.range(direction).upper, set.range(direction).upper);
        EXPECT_EQ(copy.exact_support(direction).upper, set.exact_support(direction).upper);
        EXPECT_EQ(copy.exact_support(direction).lower, set.exact_support(direction).lower);
    }
}

TEST(ConfidenceSet, RefusesADamagedRecord) {
    const ConfidenceRecord record = random_set(1, 4, 0.6, 0.3).record();
    ConfidenceRecord damaged = record;
    damaged.factor.pop_back();
    EXPECT_THROW(ConfidenceSet::from_record(damaged), InvalidArgument);
    damaged = record;
    damaged.precision[0] = std::nan("");
    EXPECT_THROW(ConfidenceSet::from_record(damaged), InvalidArgument);
    damaged = record;
    damaged.factor[0] *= 2;
    EXPECT_THROW(ConfidenceSet::from_record(damaged), InvalidArgument);
    damaged = record;
    damaged.inverse_factor[0] *= 2;
    EXPECT_THROW(ConfidenceSet::from_record(damaged), InvalidArgument);
    damaged = record;
    damaged.scalars[0] = -1;
    EXPECT_THROW(ConfidenceSet::from_record(damaged), InvalidArgument);
}

TEST(ConfidenceSet, SaysThatTheEventFailedWhenItMissesTheSimplex) {
    detail::RidgeStatistics statistics(1);
    const double x = 1;
    statistics.add(&x, 1000, 5000.0);  // an estimate five lengths away from the segment
    const detail::RidgeEstimate estimate = detail::solve_ridge(statistics, 0.25);
    EXPECT_THROW(ConfidenceSet(ParameterSet::simplex(2), estimate, 1.0), ModelContradiction);
    EXPECT_THROW(ConfidenceSet(ParameterSet::simplex(2), estimate, std::nan("")), InvalidArgument);
}

TEST(RegressionSets, UseTheLogDeterminantRadiusAndAVanishingBias) {
    detail::RidgeStatistics statistics(2);
    Stream random = support::test_stream(1);
    const auto features =
        support::random_features(random, {.shape = {4, 2, 3}, .features = 3, .successors = 3});
    const auto prior = detail::regression_sets(features, std::vector{statistics, statistics}, 0.1);
    ASSERT_EQ(prior.size(), 2u);
    EXPECT_NEAR(prior[0].radius(), 0.5 * std::sqrt(2 * std::log(20.0)) + 0.5 * std::sqrt(2.0 / 3), 1e-12);
    statistics.gram = 1e4 * Matrix::Identity(2, 2);
    const auto later = detail::regression_sets(features, std::vector{statistics}, 0.1);
    // Bias: 0.25 * sqrt(2/3) / sqrt(1e4 + 0.25), as the precision is a multiple of the identity.
    const double log_det = 2 * std::log((1e4 + 0.25) / 0.25);
    EXPECT_NEAR(
        later[0].radius(),
        0.5 * std::sqrt(log_det + 2 * std::log(10.0)) + 0.25 * std::sqrt(2.0 / 3) / std::sqrt(1e4 + 0.25),
        1e-12);
}

TEST(WidthTable, IsTheWidthInTheMetricAndDoesNotDependOnThreads) {
    Stream random = support::test_stream(3);
    const support::RandomSizes sizes{.shape = {6, 2, 4}, .features = 4, .successors = 5};
    const auto features = support::random_features(random, sizes);
    const auto parameters = ParameterSet::of(*features);
    const TangentFeatures tangent(*features, parameters.space());
    const std::vector<ConfidenceSet> sets = {random_set(1, 4, 1, 0.1), random_set(2, 4, 1, 0.1)};
    WidthTable one(2, *features), two(2, *features);
    bracket_widths(*features, tangent, sets, {}, 1, one);
    bracket_widths(*features, tangent, sets, {}, 2, two);
    EXPECT_EQ(one.upper, two.upper);
    EXPECT_EQ(one.lower, two.lower);
    EXPECT_EQ(one.witness, two.witness);
    for (Index pair = 0; pair < features->pairs(); ++pair) {
        // Independent: phi_V over all V, its tangent part, and the dual norm by a dense solve.
        double best = 0;
        for (Index subset = 0; subset < (Index{1} << 5); ++subset) {
            std::vector<double> value(6, 0.0);
            for (std::size_t j = 0; j < 5; ++j)
                value[static_cast<std::size_t>(features->targets(pair)[j])] = (subset >> j) & 1 ? 1.0 : 0.0;
            const Vector x = parameters.space().basis.transpose() * features->phi_value(pair, value);
            best = std::max(best, std::sqrt(x.dot(Vector(support::solve(sets[1].estimate().precision, x)))));
        }
        EXPECT_NEAR(one.upper_of(1)[static_cast<std::size_t>(pair)], best, 1e-9);
        const double expected = std::min(1.0, sets[1].refined_radius() * best);
        EXPECT_NEAR(sets[1].width(*features, tangent, pair).upper, expected, 1e-9);
        EXPECT_NEAR(sets[1].width(*features, tangent, pair).lower, expected, 1e-9);
    }
}

}  // namespace
}  // namespace alidade::confidence_set_test
