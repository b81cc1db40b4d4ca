#include "alidade/convex/projection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/random/samplers.hpp"
#include "support/dense_algebra.hpp"
#include "support/exact_projection.hpp"
#include "support/metrics.hpp"
#include "support/random_models.hpp"

namespace alidade::projection_test {
namespace {

struct Instance {
    ParameterSet parameters;
    Vector coordinates;
    Matrix precision, factor;
};

/// An estimate around the simplex and a precision with condition number about 10^decades.
Instance random_instance(std::uint64_t seed, Index d, double decades) {
    Stream random = support::test_stream(seed);
    const Index p = d - 1;
    Instance instance{ParameterSet::simplex(d), Vector(p), Matrix(p, p), {}};
    Matrix shape(p, p);
    for (Index i = 0; i < p; ++i)
        for (Index j = 0; j < p; ++j) shape(i, j) = sample_normal(random);
    Vector scales(p);
    for (Index i = 0; i < p; ++i) scales[i] = std::pow(10.0, decades * sample_uniform(random));
    instance.precision = shape * scales.asDiagonal() * shape.transpose() + 0.25 * Matrix::Identity(p, p);
    instance.factor = support::cholesky(instance.precision);
    for (Index i = 0; i < p; ++i) instance.coordinates[i] = 0.8 * sample_normal(random);
    return instance;
}

Vector metric_offset(const Instance& instance, const Vector& weights) {
    return instance.factor.transpose() *
           (instance.parameters.space().coordinates(weights) - instance.coordinates);
}

/// Brute force: the best of all faces. On a face the minimiser solves a linear system; feasible ones count.
Vector best_face(const Instance& instance) {
    const Index d = instance.parameters.features();
    const TangentSpace& space = instance.parameters.space();
    Vector best;
    double least = std::numeric_limits<double>::infinity();
    for (Index zeros = 0; zeros < (Index{1} << d) - 1; ++zeros) {
        std::vector<Index> fixed;
        for (Index i = 0; i < d; ++i)
            if ((zeros >> i) & 1) fixed.push_back(i);
        const Index k = static_cast<Index>(fixed.size()), p = d - 1;
        // [Lambda A'; A 0] [zeta; mu] = [Lambda zeta_hat; -centre on the face]
        Matrix system = Matrix::Zero(p + k, p + k);
        Vector right = Vector::Zero(p + k);
        system.topLeftCorner(p, p) = instance.precision;
        right.head(p) = instance.precision * instance.coordinates;
        for (Index j = 0; j < k; ++j) {
            const Vector row = space.basis.row(fixed[static_cast<std::size_t>(j)]).transpose();
            system.block(p + j, 0, 1, p) = row.transpose();
            system.block(0, p + j, p, 1) = row;
            right[p + j] = -space.centre[fixed[static_cast<std::size_t>(j)]];
        }
        const Vector solution = support::solve(system, right);
        const Vector weights = space.weights(solution.head(p));
        if (weights.minCoeff() < -1e-9) continue;
        const double distance = metric_offset(instance, weights).norm();
        if (distance < least) least = distance, best = weights;
    }
    return best;
}

Projection run(const Instance& instance) {
    return project(instance.parameters, instance.coordinates, instance.factor);
}

TEST(Projection, IsTheBestOfAllFaces) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Instance instance = random_instance(seed, 2 + static_cast<Index>(seed % 5), 2);
        const Projection projection = run(instance);
        const Vector expected = best_face(instance);
        EXPECT_LT((projection.weights - expected).norm(), 1e-9) << "seed " << seed;
        EXPECT_NEAR(projection.residual, metric_offset(instance, projection.weights).norm(), 1e-10);
    }
}

// The oracle enumerates active sets and solves their optimality conditions in long double.
TEST(Projection, AgreesWithTheExactSolution) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 5);
        const double decades = seed % 2 == 0 ? 2 : 8;
        Instance instance = random_instance(seed, d, 2);
        Stream random = support::test_stream(seed, 1);
        instance.factor = support::lower_factor(support::random_metric(random, d - 1, decades));
        const TangentSpace& space = instance.parameters.space();
        const Vector expected = support::exact_projection(space.basis.transpose(), space.centre,
                                                          instance.coordinates, instance.factor);
        EXPECT_LE((run(instance).coordinates - expected).norm(), decades < 5 ? 1e-12 : 1e-10)
            << "seed " << seed;
    }
}

TEST(Projection, IsOptimalUpToThirtyTwoFeatures) {
    for (const double decades : {2.0, 8.0})
        for (const Index d : {5, 10, 20, 32})
            for (std::uint64_t seed = 0; seed < 20; ++seed) {
                Instance instance = random_instance(seed, d, 2);
                Stream random = support::test_stream(seed, 2);
                instance.factor = support::lower_factor(support::random_metric(random, d - 1, decades));
                const Projection projection = run(instance);
                EXPECT_GT(projection.active, 0);
                EXPECT_GE(projection.weights.minCoeff(), 0);
                EXPECT_NEAR(projection.weights.sum(), 1, 1e-12);
                EXPECT_LE(projection.kkt_residual, decades < 5 ? 1e-12 : 1e-7)
                    << "d " << d << " seed " << seed;
            }
}

// T7 [theory §4]: the output is well defined and optimal to the residual that is returned.
TEST(Projection, IsFeasibleAndOptimalWhateverTheConditionNumber) {
    for (const double decades : {2.0, 8.0})
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const Instance instance = random_instance(seed, 2 + static_cast<Index>(seed % 19), decades);
            const Projection projection = run(instance);
            EXPECT_GE(projection.weights.minCoeff(), 0) << "seed " << seed;
            EXPECT_NEAR(projection.weights.sum(), 1, 1e-12) << "seed " << seed;
            EXPECT_LE(projection.kkt_residual, decades < 5 ? 1e-12 : 1e-7) << "seed " << seed;
        }
}

// T8: |theta~ - theta|^2 <= |theta^ - theta|^2 - r^2 (+ 2 eta for the computed point), for every member.
TEST(Projection, ObeysPythagorasForEveryMember) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 7);
        const Instance instance = random_instance(seed, d, 4);
        const Projection projection = run(instance);
        Stream random = support::test_stream(seed, 9);
        for (int k = 0; k < 20; ++k) {
            const auto law = sample_dirichlet(random, d, 0.5);
            const Vector member = Eigen::Map<const Vector>(law.data(), d);
            const double from_estimate = metric_offset(instance, member).squaredNorm();
            const Vector between = instance.factor.transpose() *
                                   (instance.parameters.space().coordinates(member) - projection.coordinates);
            const double bound =
                from_estimate - projection.residual * projection.residual + 2 * projection.gap;
            EXPECT_LE(between.squaredNorm(), bound * (1 + 1e-9) + 1e-9) << "seed " << seed;
        }
    }
}

TEST(Projection, LeavesAMemberWhereItIs) {
    Instance instance = random_instance(1, 4, 2);
    const Vector member = (Vector(4) << 0.1, 0.2, 0.3, 0.4).finished();
    instance.coordinates = instance.parameters.space().coordinates(member);
    const Projection projection = run(instance);
    EXPECT_LT((projection.weights - member).norm(), 1e-14);
    EXPECT_LT(projection.residual, 1e-12);
    EXPECT_EQ(projection.active, 0);
}

}  // namespace
}  // namespace alidade::projection_test
