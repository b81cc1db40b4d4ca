#include "alidade/confidence/intersection.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <span>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::intersection_test {
namespace {

/// An ellipsoid about a point near the middle of the simplex, with axes of very different lengths.
ConfidenceSet random_set(Stream& random, Index d, double stretch) {
    const ParameterSet simplex = ParameterSet::simplex(d);
    Matrix rows(d - 1, d + 2);
    for (Index i = 0; i < rows.rows(); ++i)
        for (Index j = 0; j < rows.cols(); ++j) rows(i, j) = sample_normal(random) * (i == 0 ? stretch : 1.0);
    const auto law = sample_dirichlet(random, d, 2.0);
    const Vector centre = simplex.space().coordinates(Eigen::Map<const Vector>(law.data(), d));
    const Matrix precision = rows * rows.transpose() + 0.1 * Matrix::Identity(d - 1, d - 1);
    return ConfidenceSet(simplex, estimate_with(centre, precision), 0.5 + sample_uniform(random));
}

double log_volume(const ConfidenceSet& set) {
    return static_cast<double>(set.dimension()) * std::log(set.radius()) -
           0.5 * std::log(support::determinant(set.estimate().precision));
}

TEST(Intersection, ContainsEveryCommonMember) {
    int common = 0, met = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Stream random = support::test_stream(seed, 41);
        const Index d = 2 + static_cast<Index>(seed % 5);
        const ConfidenceSet one = random_set(random, d, seed % 3 == 0 ? 30 : 1),
                            two = random_set(random, d, seed % 4 == 0 ? 1e3 : 1);
        std::vector<Vector> members;
        for (int t = 0; t < 400; ++t) {
            const auto law = sample_dirichlet(random, d, 0.8);
            Vector weights = Eigen::Map<const Vector>(law.data(), d);
            // Towards both centres by turns: most random points are in neither.
            const double pull = sample_uniform(random);
            weights = (1 - pull) * weights + pull * (t % 2 == 0 ? one.weights() : two.weights());
            if (one.contains(weights) && two.contains(weights)) members.push_back(weights);
        }
        try {
            const ConfidenceSet both = detail::intersection(one, two);
            ++met;
            for (const Vector& weights : members) EXPECT_TRUE(both.contains(weights)) << "seed " << seed;
            EXPECT_LE(log_volume(both), std::min(log_volume(one), log_volume(two)) + 1e-9);
        } catch (const ModelContradiction&) {
            EXPECT_TRUE(members.empty()) << "seed " << seed;
        }
        common += static_cast<int>(members.size());
    }
    EXPECT_GT(common, 1000);
    EXPECT_GT(met, 100);
}

// In one dimension the ellipsoids are intervals: the best share's interval is found by hand from its
// definition, over a fine grid of shares.
TEST(Intersection, IsTheBestShareOfTwoIntervals) {
    const ParameterSet simplex = ParameterSet::simplex(2);
    const auto interval = [&](double centre, double half) {
        return ConfidenceSet(simplex, estimate_with(Vector::Constant(1, centre), Matrix::Constant(1, 1, 4.0)),
                             2 * half);
    };
    const ConfidenceSet both = detail::intersection(interval(0.0, 0.3), interval(0.3, 0.28));
    double least = 1;
    for (int k = 1; k < 1000; ++k) {
        const double a = k / 1000.0, one = a / 0.09, two = (1 - a) / 0.0784;
        const double middle = two * 0.3 / (one + two);
        const double left = 1 - one * middle * middle - two * (middle - 0.3) * (middle - 0.3);
        least = std::min(least, std::sqrt(left / (one + two)));
    }
    const double half = both.radius() / both.estimate().factor(0, 0);
    EXPECT_LT(half, 0.28);
    EXPECT_NEAR(half, least, 1e-4 * least);
}

TEST(Intersection, OfASetWithItselfIsTheSet) {
    Stream random = support::test_stream(3, 42);
    const ConfidenceSet set = random_set(random, 4, 1);
    EXPECT_NEAR(log_volume(detail::intersection(set, set)), log_volume(set), 1e-6);
}

TEST(Intersection, OfSetsApartIsAContradiction) {
    const ParameterSet simplex = ParameterSet::simplex(3);
    const auto around = [&](Index i) {
        return ConfidenceSet(
            simplex,
            estimate_with(simplex.space().coordinates(Vector::Unit(3, i)), 100 * Matrix::Identity(2, 2)),
            1.0);
    };
    EXPECT_THROW(detail::intersection(around(0), around(1)), ModelContradiction);
    EXPECT_THROW(detail::intersection(
                     around(0), ConfidenceSet(ParameterSet::simplex(2),
                                              estimate_with(Vector::Zero(1), Matrix::Identity(1, 1)), 1.0)),
                 InvalidArgument);
}

// Two base models: sets are intervals of the first weight, and what they have in common is one, too.
TEST(AlsoWithin, IsTheCommonIntervalOfTwo) {
    const ParameterSet simplex = ParameterSet::simplex(2);
    // |4^(1/2) (z - centre)| <= 2 half, z = sqrt(2) (theta_1 - 1/2).
    const auto interval = [&](double centre, double half) {
        const double unit =
            std::sqrt(2.0) * simplex.space().basis(0, 0) / std::abs(simplex.space().basis(0, 0));
        return ConfidenceSet(
            simplex, estimate_with(Vector::Constant(1, unit * (centre - 0.5)), Matrix::Constant(1, 1, 4.0)),
            2 * std::sqrt(2.0) * half);
    };
    const ConfidenceSet both =
        interval(0.4, 0.2).also_within(interval(0.6, 0.25)).also_within(interval(0.5, 0.08));
    const std::vector<double> first{1, 0}, second{0, 1};
    EXPECT_NEAR(both.range(first).lower, 0.42, 1e-12);
    EXPECT_NEAR(both.range(first).upper, 0.58, 1e-12);
    EXPECT_NEAR(both.range(second).upper, 0.58, 1e-12);
    EXPECT_NEAR(both.exact_support(first).upper, 0.58, 1e-8);
    EXPECT_EQ(both.further().size(), 2u);
    EXPECT_NEAR(both.weights()[0], 0.4, 1e-12);  // the model stays that of the first
    const auto weights = [](double x) { return (Vector(2) << x, 1 - x).finished(); };
    EXPECT_TRUE(both.contains(weights(0.43)));
    EXPECT_FALSE(both.contains(weights(0.41)));
    EXPECT_FALSE(both.contains(weights(0.59)));
    EXPECT_NEAR(both.depth(weights(0.54)), 0.7, 1e-12);
    EXPECT_NEAR(both.depth(weights(0.45)), 0.625, 1e-12);
    EXPECT_THROW(both.record(), InvalidArgument);
}

TEST(AlsoWithin, ContainsExactlyTheCommonMembers) {
    int common = 0, sharper = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Stream random = support::test_stream(seed, 43);
        const Index d = 2 + static_cast<Index>(seed % 5);
        const ConfidenceSet one = random_set(random, d, seed % 3 == 0 ? 30 : 1),
                            two = random_set(random, d, seed % 4 == 0 ? 1e3 : 1);
        std::optional<ConfidenceSet> both;
        try {
            both = one.also_within(two);
        } catch (const ModelContradiction&) {
        }
        for (int t = 0; t < support::repetitions(200); ++t) {
            const auto law = sample_dirichlet(random, d, 0.8);
            const double pull = sample_uniform(random);
            const Vector weights = (1 - pull) * Eigen::Map<const Vector>(law.data(), d) +
                                   pull * (t % 2 == 0 ? one.weights() : two.weights());
            const bool member = one.contains(weights) && two.contains(weights);
            if (!both) {
                EXPECT_FALSE(member) << "seed " << seed;
                continue;
            }
            EXPECT_EQ(both->contains(weights), member) << "seed " << seed;
            if (!member) continue;
            ++common;
            Vector f(d);
            for (Index i = 0; i < d; ++i) f[i] = sample_normal(random);
            const std::span<const double> direction(f.data(), static_cast<std::size_t>(d));
            const Interval range = both->range(direction);
            EXPECT_LE(range.lower, f.dot(weights) + 1e-14) << "seed " << seed;
            EXPECT_GE(range.upper, f.dot(weights) - 1e-14) << "seed " << seed;
            for (const ConfidenceSet& set : {one, two}) {
                EXPECT_LE(range.upper, set.range(direction).upper);
                EXPECT_GE(range.lower, set.range(direction).lower);
            }
            EXPECT_LE(both->exact_support(direction).lower, range.upper + 1e-12);
            sharper +=
                range.upper <
                std::min(one.exact_support(direction).upper, two.exact_support(direction).upper) + 1e-9;
        }
    }
    EXPECT_GT(common, support::repetitions(1000));
    EXPECT_GT(sharper, support::repetitions(100));
}

TEST(AlsoWithin, OfSetsApartIsAContradiction) {
    const ParameterSet simplex = ParameterSet::simplex(3);
    const auto around = [&](Index i) {
        return ConfidenceSet(
            simplex,
            estimate_with(simplex.space().coordinates(Vector::Unit(3, i)), 100 * Matrix::Identity(2, 2)),
            1.0);
    };
    EXPECT_THROW(around(0).also_within(around(1)), ModelContradiction);
    EXPECT_NO_THROW(around(0).also_within(around(0)));
    EXPECT_THROW(around(0).also_within(ConfidenceSet(
                     ParameterSet::simplex(2), estimate_with(Vector::Zero(1), Matrix::Identity(1, 1)), 1.0)),
                 InvalidArgument);
}

}  // namespace
}  // namespace alidade::intersection_test
