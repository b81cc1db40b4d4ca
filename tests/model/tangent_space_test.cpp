#include "alidade/model/tangent_space.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/parameter_set.hpp"
#include "support/random_models.hpp"

namespace alidade::tangent_space_test {
namespace {

TEST(TangentSpace, OfTheSimplexIsOrthonormalAndSumsToZero) {
    for (Index d = 1; d <= 12; ++d) {
        const TangentSpace space = TangentSpace::simplex(d);
        EXPECT_EQ(space.dimension(), d - 1);
        EXPECT_LT((space.basis.transpose() * space.basis - Matrix::Identity(d - 1, d - 1)).norm(), 1e-14);
        EXPECT_LT((Vector::Ones(d).transpose() * space.basis).norm(), 1e-14);
        EXPECT_NEAR(space.centre.sum(), 1, 1e-15);
    }
}

// [theory §3k]: over the successors of a pair psi sums to zero, so V -> V + c changes no norm.
TEST(TangentFeatures, SumToZeroAndPredictWhatTheWeightsPredict) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        Stream random = support::test_stream(seed);
        const support::RandomSizes sizes{.shape = {6, 2, 3}, .features = 4, .successors = 4};
        const auto features = support::random_features(random, sizes);
        const TangentFeatures tangent(*features, TangentSpace::of(*features));
        const Vector weights = support::random_weights(random, 1, 4).row(0).transpose();
        const Vector zeta = tangent.space.coordinates(weights);
        EXPECT_LT((tangent.space.weights(zeta) - weights).norm(), 1e-14);
        for (Index pair = 0; pair < features->pairs(); ++pair) {
            Vector sum = Vector::Zero(3);
            for (Index e = features->first_entry(pair); e < features->first_entry(pair + 1); ++e) {
                const Vector psi = tangent.psi(e);
                const Eigen::Map<const Vector> phi(features->phi(e).data(), 4);
                sum += psi;
                EXPECT_NEAR(tangent.centre(e) + zeta.dot(psi), weights.dot(phi), 1e-14);
            }
            EXPECT_LT(sum.norm(), 1e-14);
        }
    }
}

TEST(TangentFeatures, AreExactlyZeroWhereBaseModelsAgree) {
    Stream random = support::test_stream(1);
    auto kernels = support::random_kernels(random, {.shape = {5, 2, 3}, .features = 3, .successors = 3});
    kernels[1] = kernels[2] = kernels[0];
    const FeatureMap features = FeatureMap::from_base_kernels(5, 2, kernels);
    for (const double psi : TangentFeatures(features, TangentSpace::of(features)).all_psi())
        EXPECT_EQ(psi, 0);
}

TEST(TangentSpace, OfSignedFeaturesIsTheHullOfWeightsThatSumRowsToOne) {
    // phi_1 = (1, 0) for both pairs: theta = (1, x).
    const FeatureMap features = FeatureMap::from_features(
        {2, 1, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.5, 0.25, 0.5, -0.25, 0.5, 0.25, 0.5, -0.25}, 2.0});
    const TangentSpace space = TangentSpace::of(features);
    ASSERT_EQ(space.dimension(), 1);
    EXPECT_LT((space.centre - (Vector(2) << 1, 0).finished()).norm(), 1e-12);
    EXPECT_NEAR(std::abs(space.basis(1, 0)), 1, 1e-12);
    const ParameterSet set = ParameterSet::of(features);
    EXPECT_NEAR(set.radius(), std::sqrt(3.0), 1e-12);  // B^2 - |theta_0|^2 = 4 - 1
    EXPECT_NEAR(set.support((Vector(2) << 1, 1).finished()), 1 + std::sqrt(3.0), 1e-12);
    EXPECT_TRUE(set.contains((Vector(2) << 1, -1.7).finished()));
    EXPECT_FALSE(set.contains((Vector(2) << 1, -1.8).finished()));
    EXPECT_FALSE(set.contains((Vector(2) << 0.9, 0).finished()));
}

TEST(ParameterSet, OfSignedFeaturesHoldsOnlyWeightsWithNonNegativeProbabilities) {
    // theta = (1, x) gives 1/2 + x/4 and 1/2 - x/4: a law for |x| <= 2, inside the ball |x| <= sqrt(24).
    const FeatureMap features =
        FeatureMap::from_features({2, 1, 2, {0, 2, 3}, {0, 1, 1}, {0.5, 0.25, 0.5, -0.25, 1, 0}, 5.0});
    const ParameterSet set = ParameterSet::of(features);
    EXPECT_EQ(set.kind(), ParameterSetKind::polytope);
    EXPECT_TRUE(set.contains((Vector(2) << 1, 1.99).finished()));
    EXPECT_TRUE(set.contains((Vector(2) << 1, -1.99).finished()));
    EXPECT_FALSE(set.contains((Vector(2) << 1, 2.01).finished()));
    EXPECT_FALSE(set.contains((Vector(2) << 1, -2.01).finished()));
    EXPECT_GE(set.support((Vector(2) << 0, 1).finished()), 2);
    ASSERT_NE(set.rows(), nullptr);
    EXPECT_EQ(set.rows()->place(1), "state 0, action 0, successor 1");
    EXPECT_EQ(set.rows()->place(2), "state 1, action 0, successor 1");
}

TEST(TangentSpace, NamesAPairThatContradictsTheOthers) {
    // phi_1 = (1, 0) and (2, 0): no theta makes both rows sum to one.
    const FeatureMap features = FeatureMap::from_features({2, 1, 2, {0, 1, 2}, {0, 1}, {1, 0, 2, 0}, 2.0});
    EXPECT_THROW(TangentSpace::of(features), InvalidArgument);
}

TEST(ParameterSet, SimplexAnswersBySmallestAndLargestWeight) {
    const ParameterSet set = ParameterSet::simplex(3);
    EXPECT_EQ(set.support((Vector(3) << -1, 4, 2).finished()), 4);
    EXPECT_TRUE(set.contains((Vector(3) << 0.5, 0.5, 0).finished()));
    EXPECT_FALSE(set.contains((Vector(3) << 0.6, 0.6, -0.2).finished()));
    EXPECT_FALSE(set.contains((Vector(2) << 0.5, 0.5).finished()));
    EXPECT_NEAR(set.radius(), std::sqrt(2.0 / 3), 1e-15);
}

}  // namespace
}  // namespace alidade::tangent_space_test
