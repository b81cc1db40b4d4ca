#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/convex/projection.hpp"
#include "alidade/error.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/problem/families/hard.hpp"
#include "support/effort.hpp"
#include "support/exact_projection.hpp"
#include "support/metrics.hpp"
#include "support/signed_features.hpp"

namespace alidade::polytope_projection_test {
namespace {

struct Instance {
    ParameterSet parameters;
    Vector coordinates;
    Matrix factor;
};

Vector random_point(Stream& random, Index size, double scale) {
    Vector point(size);
    for (Index i = 0; i < size; ++i) point[i] = scale * sample_normal(random);
    return point;
}

/// Random signed features, an estimate mostly outside, a metric of condition number 10^decades.
Instance random_instance(std::uint64_t seed, const Shape& shape, Index d, Index successors, double decades) {
    Stream random = support::test_stream(seed, 3);
    ParameterSet parameters =
        ParameterSet::polytope(support::random_signed_features(random, shape, d, successors, 20));
    const Matrix metric = support::random_metric(random, d - 1, decades);
    return {std::move(parameters), random_point(random, d - 1, 0.5), support::lower_factor(metric)};
}

/// A random member: on the way from theta = (1, 0), which is inside, to the boundary.
Vector random_member(Stream& random, const ParameterSet& parameters) {
    const Vector direction = random_point(random, parameters.space().dimension(), 1);
    Vector at_centre, ahead;
    parameters.rows()->probabilities(Vector::Zero(direction.size()), at_centre);
    parameters.rows()->probabilities(direction, ahead);
    double reach = 1e300;
    for (Index e = 0; e < ahead.size(); ++e)
        if (ahead[e] < at_centre[e]) reach = std::min(reach, at_centre[e] / (at_centre[e] - ahead[e]));
    return std::sqrt(sample_uniform(random)) * reach * direction;
}

Projection run(const Instance& instance) {
    return project(instance.parameters, instance.coordinates, instance.factor);
}

void expect_well_defined(const FeatureMap& features, const Vector& weights) {
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        double sum = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const double probability =
                Eigen::Map<const Vector>(features.phi(e).data(), features.features()).dot(weights);
            EXPECT_GE(probability, -1e-12) << "entry " << e;
            sum += probability;
        }
        EXPECT_NEAR(sum, 1, 1e-12) << "pair " << pair;
    }
}

// The oracle enumerates active sets and solves their optimality conditions in long double.
TEST(PolytopeProjection, AgreesWithTheExactSolution) {
    Index outside = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(150, 24); ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 4);
        const double decades = seed % 8 < 4 ? 2 : 8;
        const Instance instance = random_instance(seed, {3, 2, 2}, d, d < 5 ? 3 : 2, decades);
        const ProbabilityRows& rows = *instance.parameters.rows();
        const Matrix normals = Eigen::Map<const Matrix>(rows.psi.data(), d - 1, rows.entries());
        const Vector constants = Eigen::Map<const Vector>(rows.centre.data(), rows.entries());
        const Vector expected =
            support::exact_projection(normals, constants, instance.coordinates, instance.factor);
        const Projection projection = run(instance);
        EXPECT_LE((projection.coordinates - expected).norm(), decades < 5 ? 1e-12 : 1e-10) << "seed " << seed;
        EXPECT_NEAR(projection.residual,
                    (instance.factor.transpose() * (instance.coordinates - expected)).norm(),
                    decades < 5 ? 1e-11 : 1e-8);
        outside += projection.active > 0;
    }
    EXPECT_GE(outside, support::repetitions(100));
}

// T7 [theory §4].
TEST(PolytopeProjection, IsFeasibleAndOptimalWhateverTheConditionNumber) {
    for (const double decades : {2.0, 8.0})
        for (const Index d : {3, 5, 10, 20, 32})
            for (std::uint64_t seed = 0; seed < 10; ++seed) {
                const Instance instance = random_instance(seed, {8, 3, 2}, d, 5, decades);
                const Projection projection = run(instance);
                EXPECT_LE(projection.violation, 1e-12) << "d " << d << " seed " << seed;
                Vector probabilities;
                instance.parameters.rows()->probabilities(
                    instance.parameters.space().coordinates(projection.weights), probabilities);
                EXPECT_GE(probabilities.minCoeff(), -1e-12) << "d " << d << " seed " << seed;
                EXPECT_GT(projection.active, 0);
                EXPECT_LE(projection.kkt_residual, decades < 5 ? 1e-12 : 1e-7)
                    << "d " << d << " seed " << seed << " decades " << decades;
            }
}

// T8, and the gap that it leans on: no member beats the point to first order by more.
TEST(PolytopeProjection, ObeysPythagorasForEveryMember) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 7);
        const Instance instance = random_instance(seed, {5, 2, 2}, d, 4, 4);
        const Projection projection = run(instance);
        const Vector offset = instance.factor.transpose() * (instance.coordinates - projection.coordinates);
        Stream random = support::test_stream(seed, 9);
        for (int k = 0; k < 20; ++k) {
            const Vector member = random_member(random, instance.parameters);
            ASSERT_TRUE(instance.parameters.contains(instance.parameters.space().weights(member), 1e-9));
            const Vector from = instance.factor.transpose() * (member - instance.coordinates);
            const Vector between = instance.factor.transpose() * (member - projection.coordinates);
            const double slack = 1e-13 * (from.squaredNorm() + offset.squaredNorm());
            EXPECT_LE(offset.dot(between), projection.gap + slack) << "seed " << seed;
            EXPECT_LE(between.squaredNorm(),
                      from.squaredNorm() - offset.squaredNorm() + 2 * projection.gap + 4 * slack);
        }
    }
}

/// A bound of the norm that leaves a ball about the centre smaller than the polytope.
Instance tight_instance(std::uint64_t seed, Index d, double decades) {
    Stream random = support::test_stream(seed, 12);
    const Shape shape{4, 2, 2};
    const double bound = 1 + std::pow(10.0, -4 * sample_uniform(random));
    ParameterSet parameters =
        ParameterSet::polytope(support::random_signed_features(random, shape, d, 3, bound));
    const Matrix metric = support::random_metric(random, d - 1, decades);
    return {std::move(parameters), random_point(random, d - 1, 1), support::lower_factor(metric)};
}

TEST(PolytopeProjection, IsAMemberOfTheNormBallToo) {
    Index pulled = 0, both = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(300, 60); ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 6);
        const Instance instance = tight_instance(seed, d, seed % 3 == 0 ? 8 : 2);
        const double radius = instance.parameters.radius();
        const Projection projection = run(instance);
        EXPECT_LE(projection.coordinates.norm(), radius * (1 + 1e-14)) << "seed " << seed;
        EXPECT_TRUE(instance.parameters.contains(projection.weights, 1e-12)) << "seed " << seed;
        if (projection.coordinates.norm() < radius * (1 - 1e-9)) continue;
        ++pulled;
        both += projection.active > 0;
        EXPECT_LE(projection.kkt_residual, seed % 3 == 0 ? 1e-6 : 1e-10) << "seed " << seed;
        // No member is nearer, and none beats the point to first order by more than the gap.
        const Vector offset = instance.factor.transpose() * (instance.coordinates - projection.coordinates);
        EXPECT_NEAR(offset.norm(), projection.residual, 1e-12 * (1 + offset.norm()));
        Stream random = support::test_stream(seed, 13);
        for (int k = 0; k < 40; ++k) {
            Vector member = random_member(random, instance.parameters);
            // Out to the boundary of the ball, where that is inside the polytope; else it was inside already.
            if (k % 2 == 0 || member.norm() > radius) member *= std::min(1.0, radius / member.norm());
            if (k % 3 == 0) member = 0.5 * (member + projection.coordinates);
            ASSERT_TRUE(instance.parameters.contains(instance.parameters.space().weights(member), 1e-9));
            const Vector between = instance.factor.transpose() * (member - projection.coordinates);
            const double slack = 1e-11 * (between.squaredNorm() + offset.squaredNorm());
            EXPECT_LE(offset.dot(between), projection.gap + slack) << "seed " << seed;
            EXPECT_GE((offset - between).norm(), projection.residual - std::sqrt(2 * projection.gap) - 1e-9);
        }
    }
    EXPECT_GE(pulled, support::repetitions(60));
    EXPECT_GE(both, support::repetitions(10));
}

// By hand: in the plane, |zeta| <= R and the metric diag(4, 1); the nearest point to (3, 4) R on the circle
// solves zeta = (4 * 3R / (4 + nu), 4R / (1 + nu)), |zeta| = R.
TEST(PolytopeProjection, OntoTheBallAloneSolvesTheSecularEquation) {
    Stream random = support::test_stream(3, 14);
    const ParameterSet parameters =
        ParameterSet::polytope(support::random_signed_features(random, {4, 2, 2}, 3, 3, 1 + 1e-9));
    const double radius = parameters.radius();
    double low = 0, high = 1e6;
    const auto point = [&](double pull) {
        return Vector((Vector(2) << 12 * radius / (4 + pull), 4 * radius / (1 + pull)).finished());
    };
    for (int step = 0; step < 200; ++step) {
        const double pull = 0.5 * (low + high);
        (point(pull).norm() > radius ? low : high) = pull;
    }
    const Projection projection = project(parameters, (Vector(2) << 3 * radius, 4 * radius).finished(),
                                          (Matrix(2, 2) << 2.0, 0.0, 0.0, 1.0).finished());
    EXPECT_EQ(projection.active, 0);
    EXPECT_LE((projection.coordinates - point(high)).norm(), 1e-11 * radius);
    EXPECT_LE(projection.gap, 1e-10 * radius * radius);
}

TEST(PolytopeProjection, SaysWhichNormWouldBeEnough) {
    // theta = (1, x, y): state 0 asks for x >= 1 and state 1 for y >= 1, each of which a norm of 1.6 allows,
    // but both need sqrt(3).
    SignedFeatures data{
        2, 1, 3, {0, 2, 4}, {0, 1, 0, 1}, {-0.2, 0.2, 0, 1.2, -0.2, 0, -0.2, 0, 0.2, 1.2, 0, -0.2}, 2};
    const auto attempt = [&](double bound) {
        data.norm_bound = bound;
        return project(ParameterSet::polytope(FeatureMap::from_features(data)), Vector::Zero(2),
                       Matrix::Identity(2, 2));
    };
    EXPECT_LE((attempt(1.8).weights - Vector::Ones(3)).norm(), 1e-12);
    EXPECT_LE((attempt(std::sqrt(3.0)).weights - Vector::Ones(3)).norm(), 1e-7);
    try {
        attempt(1.6);
        ADD_FAILURE() << "weights of norm sqrt(3) at least were found within 1.6";
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("is 1.73205"), std::string::npos) << error.what();
    }
}

TEST(PolytopeProjection, LeavesAMemberWhereItIs) {
    Instance instance = random_instance(1, {5, 2, 2}, 4, 4, 2);
    Stream random = support::test_stream(1, 5);
    instance.coordinates = 0.9 * random_member(random, instance.parameters);
    const Projection projection = run(instance);
    EXPECT_EQ(projection.coordinates, instance.coordinates);
    EXPECT_EQ(projection.residual, 0);
    EXPECT_EQ(projection.gap, 0);
    EXPECT_EQ(projection.active, 0);
}

/// The nearest point of {|x|_1 <= bound} in the Euclidean norm: soft thresholding.
Vector onto_cross_polytope(const Vector& x, double bound) {
    if (x.lpNorm<1>() <= bound) return x;
    std::vector<double> sizes(x.data(), x.data() + x.size());
    for (double& size : sizes) size = std::abs(size);
    std::ranges::sort(sizes, std::greater{});
    double sum = 0, threshold = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        sum += sizes[k];
        const double candidate = (sum - bound) / static_cast<double>(k + 1);
        if (candidate < sizes[k]) threshold = candidate;
    }
    return x.array().sign() * (x.array().abs() - threshold).max(0.0);
}

// Its well-defined weights are (1/alpha, x) with gamma |x|_1 <= rho: all sign patterns are actions.
TEST(PolytopeProjection, OfTheHardInstanceIsThatOntoACrossPolytope) {
    for (const Index d : {5, 8})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            const detail::HardLine hard(d, 6, 1e4);
            const FeatureMap features = hard.map(100);
            const ParameterSet parameters = ParameterSet::of(features);
            ASSERT_EQ(parameters.kind(), ParameterSetKind::polytope);
            Stream random = support::test_stream(seed, 4);
            Vector estimate(d);
            estimate << 1 / hard.alpha, random_point(random, d - 1, 2 * hard.rho / hard.gamma);
            const Matrix factor = 3 * Matrix::Identity(d - 1, d - 1);
            const Projection projection =
                project(parameters, parameters.space().coordinates(estimate), factor);
            const Vector expected = onto_cross_polytope(estimate.tail(d - 1), hard.rho / hard.gamma);
            EXPECT_NEAR(projection.weights[0], 1 / hard.alpha, 1e-12);
            EXPECT_LE((projection.weights.tail(d - 1) - expected).norm(), 1e-11 * (1 + expected.norm()));
            expect_well_defined(features, projection.weights);
        }
}

TEST(PolytopeProjection, OfTheHardInstanceIsWellDefinedInAnyMetric) {
    const detail::HardLine hard(6, 6, 1e4);
    const FeatureMap features = hard.map(2);
    const ParameterSet parameters = ParameterSet::of(features);
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 6);
        const Matrix factor =
            support::lower_factor(support::random_metric(random, 5, static_cast<double>(seed % 9)));
        const Vector estimate = random_point(random, 5, 4);
        const Projection projection = project(parameters, estimate, factor);
        expect_well_defined(features, projection.weights);
        for (Index corner = 0; corner < 32; ++corner) {
            const Vector truth = hard.weights(corner);
            ASSERT_TRUE(parameters.contains(truth));
            const Vector member = parameters.space().coordinates(truth);
            const double far = (factor.transpose() * (member - estimate)).squaredNorm();
            const double near = (factor.transpose() * (member - projection.coordinates)).squaredNorm();
            EXPECT_LE(near,
                      far - projection.residual * projection.residual + 2 * projection.gap + 1e-12 * far)
                << "seed " << seed;
        }
    }
}

std::string message_of(const SignedFeatures& data, double coordinate) {
    const ParameterSet parameters = ParameterSet::of(FeatureMap::from_features(data));
    const double sign = parameters.space().basis(1, 0) > 0 ? 1 : -1;
    try {
        project(parameters, Vector::Constant(1, sign * coordinate), Matrix::Identity(1, 1));
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

// theta = (1, x) throughout.
TEST(PolytopeProjection, NamesTheEntryThatContradictsTheOthers) {
    // State 0 needs 1 <= x <= 2, state 1 needs -2 <= x <= -1.
    const SignedFeatures opposite{2, 1, 2, {0, 2, 4}, {0, 1, 0, 1}, {-1, 1, 2, -1, -1, -1, 2, 1}, 10.0};
    for (const double from : {1.5, -1.5, 0.0}) {
        const std::string message = message_of(opposite, from);
        EXPECT_NE(message.find("state 0, action 0, successor 0"), std::string::npos) << message;
        EXPECT_NE(message.find("state 1, action 0, successor 0"), std::string::npos) << message;
    }
    // The second successor of state 1 has probability -1/2 whatever x is.
    const SignedFeatures hopeless{2, 1, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.5, 1, 0.5, -1, 1.5, 0, -0.5, 0}, 10.0};
    EXPECT_NE(message_of(hopeless, 0).find("state 1, action 0, successor 1"), std::string::npos)
        << message_of(hopeless, 0);
    // x >= 15 is well defined, but not within the norm bound.
    const SignedFeatures far{1, 1, 2, {0, 1}, {0}, {1, 0}, 10.0};
    EXPECT_EQ(message_of(far, 3), "");
    const SignedFeatures beyond{2, 1, 2, {0, 2, 3}, {0, 1, 0}, {-15, 1, 16, -1, 1, 0}, 10.0};
    EXPECT_NE(message_of(beyond, 0).find("state 0, action 0, successor 0"), std::string::npos);
}

TEST(PolytopeProjection, FindsContradictionsOfSeveralEntriesAtOnce) {
    // In the plane x, y: x >= 1, y >= 1, x + y <= 1.9: any two can be met.
    const SignedFeatures data{
        2,
        3,
        3,
        {0, 2, 4, 6, 7, 8, 9},
        {0, 1, 0, 1, 0, 1, 0, 0, 0},
        {-1, 1, 0, 2, -1, 0, -1, 0, 1, 2, 0, -1, 1.9, -1, -1, -0.9, 1, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0},
        20.0};
    const ParameterSet parameters = ParameterSet::of(FeatureMap::from_features(data));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 7);
        const Matrix factor = support::lower_factor(support::random_metric(random, 2, 3));
        EXPECT_THROW(project(parameters, random_point(random, 2, 3), factor), InvalidArgument);
    }
}

TEST(PolytopeProjection, KeepsTheFailureOfTheConfidenceEventApart) {
    const detail::HardLine hard(4, 5, 1e3);
    const ParameterSet parameters = ParameterSet::of(hard.map(2));
    detail::RidgeStatistics statistics(3);
    detail::RidgeEstimate estimate = detail::solve_ridge(statistics, 1.0);
    estimate.coordinates = Vector::Constant(3, 50.0);
    const double residual = project(parameters, estimate.coordinates, estimate.factor).residual;
    EXPECT_THROW(ConfidenceSet(parameters, estimate, 0.9 * residual), ModelContradiction);
    const ConfidenceSet set(parameters, estimate, 1.1 * residual);
    EXPECT_TRUE(parameters.rows() != nullptr);
    EXPECT_LE(set.refined_radius(), residual);
}

}  // namespace
}  // namespace alidade::polytope_projection_test
