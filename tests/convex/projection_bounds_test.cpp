#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/convex/projection.hpp"
#include "alidade/error.hpp"
#include "support/metrics.hpp"
#include "support/signed_features.hpp"

namespace alidade::projection_bounds_test {
namespace {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

Vector normals(Stream& random, Index size) {
    Vector result(size);
    for (Index i = 0; i < size; ++i) result[i] = sample_normal(random);
    return result;
}

PointEstimate random_estimate(Stream& random, Index p, double decades, double far) {
    PointEstimate estimate;
    estimate.factor = support::lower_factor(support::random_metric(random, p, p > 1 ? decades : 0));
    estimate.precision = estimate.factor * estimate.factor.transpose();
    estimate.inverse_factor = estimate.factor.triangularView<Eigen::Lower>().solve(Matrix::Identity(p, p));
    estimate.coordinates = far * normals(random, p);
    return estimate;
}

/// |factor' (a - b)| in `long double`.
Long distance(const Matrix& factor, const LongVector& a, const LongVector& b) {
    const LongMatrix lower = factor.cast<Long>().triangularView<Eigen::Lower>();
    return (lower.transpose() * (a - b)).norm();
}

/// A radius that reaches the member, rounded up; whether the ball about the projection has the member too.
void expect_kept(const ParameterSet& parameters, const PointEstimate& estimate, const LongVector& member) {
    const Long far = distance(estimate.factor, member, estimate.coordinates.cast<Long>());
    const double radius = static_cast<double>(far) * (1 + 4e-16);
    // Throws if the set is said to miss the parameters, which the member refutes.
    const ConfidenceSet set(parameters, estimate, radius);
    const TangentSpace& space = parameters.space();
    LongVector centre = space.centre.cast<Long>();
    if (parameters.kind() == ParameterSetKind::simplex)
        centre.setConstant(1 / static_cast<Long>(centre.size()));
    const LongVector point = space.basis.cast<Long>().transpose() * (set.weights().cast<Long>() - centre);
    EXPECT_LE(distance(estimate.factor, member, point), static_cast<Long>(set.refined_radius()));
}

// The refined radius uses measured numbers only, rounded up: members that are as far as the radius allows,
// near the projection or at vertices, stay within it, whether the search has digits left or not.
TEST(ProjectionBounds, RefinedRadiusKeepsEveryMemberOfTheSimplex) {
    for (const double decades : {0.0, 6.0, 12.0})
        for (const double far : {0.3, 1e3, 1e8, 1e17})
            for (std::uint64_t seed = 0; seed < 60; ++seed) {
                SCOPED_TRACE(testing::Message() << decades << " decades, " << far << " away, seed " << seed);
                Stream random = support::test_stream(seed, 31);
                const Index d = 2 + static_cast<Index>(seed % 9);
                const ParameterSet parameters = ParameterSet::simplex(d);
                const PointEstimate estimate = random_estimate(random, d - 1, decades, far);
                const Projection projection = project(parameters, estimate.coordinates, estimate.factor);
                EXPECT_GE(projection.weights.minCoeff(), 0);
                EXPECT_NEAR(projection.weights.sum(), 1, 1e-14);
                const auto law = sample_dirichlet(random, d, 0.3);
                const LongVector other = Eigen::Map<const Vector>(law.data(), d).cast<Long>();
                for (const double share : {0.0, 1e-12, 1e-8, 1e-3, 1.0}) {
                    LongVector member = static_cast<Long>(share) * other +
                                        static_cast<Long>(1 - share) * projection.weights.cast<Long>();
                    member /= member.sum();
                    member.array() -= 1 / static_cast<Long>(d);
                    expect_kept(parameters, estimate,
                                parameters.space().basis.cast<Long>().transpose() * member);
                }
            }
}

// However far the estimate and whatever the metric, features that allow laws are not said to allow none.
TEST(ProjectionBounds, RefinedRadiusKeepsEveryMemberOfAPolytope) {
    for (const double decades : {0.0, 6.0, 12.0})
        for (const double far : {0.3, 1e3, 1e8, 1e17})
            for (std::uint64_t seed = 0; seed < 30; ++seed) {
                SCOPED_TRACE(testing::Message() << decades << " decades, " << far << " away, seed " << seed);
                Stream random = support::test_stream(seed, 32);
                const Index d = 3 + static_cast<Index>(seed % 8);
                const ParameterSet parameters =
                    ParameterSet::polytope(support::random_signed_features(random, {8, 3, 2}, d, 5, 20));
                const PointEstimate estimate = random_estimate(random, d - 1, decades, far);
                const Projection projection = project(parameters, estimate.coordinates, estimate.factor);
                EXPECT_LE(projection.violation, 1e-12 * (1 + parameters.rows()->largest));
                const Vector direction = normals(random, d - 1);
                Vector here, ahead;
                parameters.rows()->probabilities(Vector::Zero(d - 1), here);
                parameters.rows()->probabilities(direction, ahead);
                double reach = 10;
                for (Index e = 0; e < here.size(); ++e)
                    if (ahead[e] < here[e]) reach = std::min(reach, here[e] / (here[e] - ahead[e]));
                for (const double share : {0.0, 0.5, 0.999})
                    expect_kept(parameters, estimate, (share * reach * direction).eval().cast<Long>());
            }
}

TEST(ProjectionBounds, RefuseWhatIsNotANumber) {
    const ParameterSet parameters = ParameterSet::simplex(3);
    const Matrix identity = Matrix::Identity(2, 2);
    const Vector outside = Vector::Constant(2, 3.0);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_THROW(project(parameters, (Vector(2) << bad, 0).finished(), identity), InvalidArgument);
        Matrix factor = identity;
        factor(1, 0) = bad;
        EXPECT_THROW(project(parameters, outside, factor), InvalidArgument);
        factor = identity;
        factor(1, 1) = bad;
        EXPECT_THROW(project(parameters, outside, factor), InvalidArgument);
    }
    // Its squared distance overflows: no claim can be made of it.
    EXPECT_THROW(project(parameters, Vector::Constant(2, 1e160), identity), InvalidArgument);
}

// Equal rows, as two states with one law have, contradict nobody.
TEST(ProjectionBounds, RepeatedConstraintsChangeNothing) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 33);
        const double c = 0.5 * sample_uniform(random), x = sample_normal(random), y = sample_normal(random);
        const auto map_of = [&](Index copies) {
            SignedFeatures data{copies + 1, 1, 3, {0}, {}, {}, 20.0};
            for (Index s = 0; s <= copies; ++s) {
                data.targets.insert(data.targets.end(), {0, 1});
                const double sx = s == 0 ? y : x, sy = s == 0 ? -x : y;
                data.values.insert(data.values.end(), {c, sx, sy, 1 - c, -sx, -sy});
                data.offsets.push_back(2 * (s + 1));
            }
            return ParameterSet::of(FeatureMap::from_features(data));
        };
        const ParameterSet once = map_of(1), often = map_of(12);
        const Matrix factor = support::lower_factor(support::random_metric(random, 2, 4));
        const Vector theta = (Vector(3) << 1, 5 * normals(random, 2)).finished();
        // The bases of the tangent spaces agree up to rounding and sign, which the metric must follow.
        const Matrix turn = often.space().basis.transpose() * once.space().basis;
        const Matrix turned = support::lower_factor(turn * factor * factor.transpose() * turn.transpose());
        const Projection first = project(once, once.space().coordinates(theta), factor);
        const Projection second = project(often, often.space().coordinates(theta), turned);
        EXPECT_LE((first.weights - second.weights).norm(), 1e-9) << "seed " << seed;
    }
}

}  // namespace
}  // namespace alidade::projection_bounds_test
