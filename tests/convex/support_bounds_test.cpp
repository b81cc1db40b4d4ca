#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/convex/support.hpp"
#include "alidade/error.hpp"
#include "support/dense_algebra.hpp"
#include "support/metrics.hpp"
#include "support/signed_features.hpp"

namespace alidade::support_bounds_test {
namespace {

using Long = long double;
using LongVector = Eigen::Matrix<Long, Eigen::Dynamic, 1>;
constexpr double infinity = std::numeric_limits<double>::infinity();

Vector normals(Stream& random, Index size) {
    Vector result(size);
    for (Index i = 0; i < size; ++i) result[i] = sample_normal(random);
    return result;
}

std::span<const double> span_of(const Vector& vector) {
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// A ball about a point up to 90% of the radius from the member, with eigenvalues from 1 to 10^decades.
Ellipsoid ball_around(Stream& random, const Vector& member, double decades, double radius) {
    const Index p = member.size();
    Ellipsoid ball{{}, support::lower_factor(support::random_metric(random, p, p > 1 ? decades : 0)), radius};
    const Vector away = normals(random, p).normalized() * (0.9 * sample_uniform(random) * radius);
    ball.centre = member + ball.factor.transpose().triangularView<Eigen::Upper>().solve(away);
    return ball;
}

/// Membership and values in `long double`: 11 bits more than those of the numbers that are judged.
struct Judge {
    const TangentSpace& space;
    const std::vector<Ellipsoid>& balls;

    bool accepts(const LongVector& weights) const {
        if (weights.minCoeff() < 0) return false;
        const LongVector zeta = space.basis.cast<Long>().transpose() *
                                (weights.array() - 1 / static_cast<Long>(weights.size())).matrix();
        return std::ranges::all_of(balls, [&](const Ellipsoid& ball) {
            return (ball.factor.cast<Long>().transpose() * (zeta - ball.centre.cast<Long>())).norm() <=
                   static_cast<Long>(ball.radius);
        });
    }
    /// The last member on the way from one to a point.
    LongVector towards(const LongVector& member, const LongVector& point) const {
        Long low = 0, high = 1;
        for (int k = 0; k < 70; ++k) {
            const Long middle = (low + high) / 2;
            (accepts(member + middle * (point - member)) ? low : high) = middle;
        }
        return member + low * (point - member);
    }
};

// Members are on faces and at vertices too. The balls have radii of 1e-8 in metrics of condition number 1e12,
// so that they are 1e-14 thin; where it is up to the solver, both ends meet all the same.
TEST(SupportBounds, ThinAndIllConditionedSetsAreBracketedToTheTolerance) {
    for (const double decades : {0.0, 6.0, 12.0})
        for (const double radius : {1.0, 1e-4, 1e-8})
            for (std::uint64_t seed = 0; seed < 60; ++seed) {
                SCOPED_TRACE(testing::Message()
                             << decades << " decades, radius " << radius << ", seed " << seed);
                Stream random = support::test_stream(seed, 21);
                const Index d = 2 + static_cast<Index>(seed % 7);
                const ParameterSet parameters = ParameterSet::simplex(d);
                auto law = sample_dirichlet(random, d, 0.7);
                if (seed % 5 == 4) std::ranges::fill(law, 0.0), law[0] = 1;
                if (seed % 5 == 3 && d > 2) law[1] = 0;
                Vector member = Eigen::Map<const Vector>(law.data(), d);
                member /= member.sum();
                std::vector<Ellipsoid> balls;
                for (std::uint64_t j = 0; j <= seed % 3; ++j)
                    balls.push_back(
                        ball_around(random, parameters.space().coordinates(member), decades, radius));
                const Vector direction = normals(random, d);
                const SupportBracket bracket = SupportFunction(parameters, balls).bracket(span_of(direction));
                EXPECT_NE(bracket.status, SupportStatus::limit);
                ASSERT_NE(bracket.status, SupportStatus::empty);
                const double range = direction.maxCoeff() - direction.minCoeff();
                EXPECT_LE(bracket.upper - bracket.lower, 1.001e-9 * range);
                const Judge judge{parameters.space(), balls};
                LongVector inside = member.cast<Long>(), best = bracket.witness.cast<Long>();
                inside /= inside.sum(), best /= best.sum();
                if (!judge.accepts(inside)) continue;
                const LongVector f = direction.cast<Long>();
                // No allowance: the upper end is rounded up.
                EXPECT_GE(static_cast<Long>(bracket.upper), f.dot(judge.towards(inside, best)));
                EXPECT_GE(static_cast<Long>(bracket.upper), f.dot(inside));
            }
}

TEST(SupportBounds, ScaleWithTheDirectionOverTheWholeRangeOfNumbers) {
    Stream random = support::test_stream(5, 22);
    const ParameterSet parameters = ParameterSet::simplex(5);
    const Vector member = parameters.space().coordinates(Vector::Constant(5, 0.2));
    const std::vector<Ellipsoid> balls{ball_around(random, member, 3, 0.4),
                                       ball_around(random, member, 1, 0.3)};
    const SupportFunction function(parameters, balls);
    const Vector direction = normals(random, 5);
    const SupportBracket one = function.bracket(span_of(direction));
    EXPECT_EQ(one.status, SupportStatus::converged);
    for (const int exponent : {-1000, -700, -500, 500, 700, 1000}) {
        const Vector scaled = direction.unaryExpr([&](double x) { return std::ldexp(x, exponent); });
        const SupportBracket other = function.bracket(span_of(scaled));
        EXPECT_EQ(other.lower, std::ldexp(one.lower, exponent)) << exponent;
        EXPECT_GE(other.upper, std::ldexp(one.upper, exponent)) << exponent;
        EXPECT_LE(other.upper, std::nextafter(std::ldexp(one.upper, exponent), infinity)) << exponent;
        EXPECT_EQ(other.witness, one.witness);
    }
    const SupportBracket zero = function.bracket(span_of(Vector::Zero(5)));
    EXPECT_EQ(zero.status, SupportStatus::exact);
    EXPECT_EQ(zero.upper, 0);
    EXPECT_EQ(zero.lower, 0);
    // The range of this overflows.
    const Vector huge = (Vector(5) << 1.7e308, -1.7e308, 0, 0, 0).finished();
    const SupportBracket wide = function.bracket(span_of(huge));
    EXPECT_TRUE(std::isfinite(wide.upper) && std::isfinite(wide.lower));
    EXPECT_LE(wide.upper - wide.lower, 3.4e299);
    // What is left of a direction of subnormal numbers is treated as it is.
    const Vector subnormal = direction.unaryExpr([](double x) { return x * 1e-310; });
    const SupportBracket last = function.bracket(span_of(subnormal));
    EXPECT_GE(last.upper, last.lower);
    EXPECT_NEAR(last.upper / 1e-310, one.upper, 1e-6);
}

// A constant moves the maximum by itself; the bound must not lose it to rounding, at 1e-170 either, where
// squares vanish.
TEST(SupportBounds, HoldWithALargeConstantInTheDirection) {
    for (const double scale : {1.0, 1e-170, 1e150})
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            Stream random = support::test_stream(seed, 23);
            const Index d = 3 + static_cast<Index>(seed % 4);
            const ParameterSet parameters = ParameterSet::simplex(d);
            const Vector member = Vector::Constant(d, 1 / static_cast<double>(d));
            const std::vector<Ellipsoid> balls{
                ball_around(random, parameters.space().coordinates(member), 4, 0.5)};
            const Vector direction = scale * (normals(random, d).array() + 1e7);
            const SupportBracket bracket = SupportFunction(parameters, balls).bracket(span_of(direction));
            const Judge judge{parameters.space(), balls};
            LongVector inside = member.cast<Long>(), best = bracket.witness.cast<Long>();
            inside /= inside.sum(), best /= best.sum();
            const Long value = direction.cast<Long>().dot(judge.towards(inside, best));
            EXPECT_GE(static_cast<Long>(bracket.upper), value) << "seed " << seed << " scale " << scale;
            EXPECT_LE((bracket.upper - bracket.lower) / scale, 1e-7) << "seed " << seed << " scale " << scale;
        }
}

// With an ellipsoid that does not bind, the maximum over the ball is centre . f + radius |N' f|.
TEST(SupportBounds, OfALongBallAreRoundedByItsLength) {
    for (const double length : {1.0, 1e4, 1e8})
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            Stream random = support::test_stream(seed, 24);
            const Index d = 12, p = 11;
            TangentSpace space{length * Vector::Unit(d, 11), Matrix::Identity(d, p)};
            const ParameterSet parameters = ParameterSet::ball(space, 1.5 * length);
            const Ellipsoid wide{Vector::Zero(p), 1e-9 / length * Matrix::Identity(p, p), 1.0};
            const Vector f = normals(random, d);
            const SupportBracket bracket = SupportFunction(parameters, {&wide, 1}).bracket(span_of(f));
            const Long exact = static_cast<Long>(length) * static_cast<Long>(f[11]) +
                               static_cast<Long>(parameters.radius()) * f.head(p).cast<Long>().norm();
            EXPECT_GE(static_cast<Long>(bracket.upper), exact) << "length " << length << " seed " << seed;
            EXPECT_LE(static_cast<Long>(bracket.upper), exact + 1e-12L * static_cast<Long>(length));
        }
}

/// Brute force in the plane: corners of the polygon, tops of the ellipse, and where edges cross the ellipse.
double best_in_the_plane(const ParameterSet& parameters, const Ellipsoid& ball, const Vector& direction) {
    const ProbabilityRows& rows = *parameters.rows();
    const Vector f = parameters.space().basis.transpose() * direction;
    std::vector<Vector> candidates;
    const Matrix shape = support::inverse(ball.factor.transpose()) * ball.radius;
    candidates.push_back(ball.centre + shape * (shape.transpose() * f).normalized());
    for (Index i = 0; i < rows.entries(); ++i) {
        const Vector n = rows.normal(i);
        const double c = rows.centre[static_cast<std::size_t>(i)];
        const Vector on = -c / n.squaredNorm() * n, along = (Vector(2) << -n[1], n[0]).finished();
        const Vector u = ball.factor.transpose() * (on - ball.centre) / ball.radius;
        const Vector v = ball.factor.transpose() * along / ball.radius;
        const double half = u.dot(v) / v.squaredNorm();
        const double root = half * half - (u.squaredNorm() - 1) / v.squaredNorm();
        if (root >= 0)
            for (const double sign : {-1.0, 1.0})
                candidates.push_back(on + (sign * std::sqrt(root) - half) * along);
        for (Index j = 0; j < i; ++j) {
            Matrix both(2, 2);
            both << n.transpose(), rows.normal(j).transpose();
            const Vector right = (Vector(2) << -c, -rows.centre[static_cast<std::size_t>(j)]).finished();
            if (std::abs(support::determinant(both)) > 1e-12)
                candidates.push_back(support::solve(both, right));
        }
    }
    double best = -infinity;
    Vector probabilities;
    for (const Vector& each : candidates) {
        rows.probabilities(each, probabilities);
        if (probabilities.minCoeff() < -1e-11 || each.norm() > parameters.radius()) continue;
        if ((ball.factor.transpose() * (each - ball.centre)).norm() > ball.radius * (1 + 1e-11)) continue;
        best = std::max(best, parameters.space().weights(each).dot(direction));
    }
    return best;
}

TEST(SupportBounds, OfAPolytopeAreTheBestCandidateInThePlane) {
    Index cut = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        Stream random = support::test_stream(seed, 25);
        const ParameterSet parameters =
            ParameterSet::polytope(support::random_signed_features(random, {4, 2, 2}, 3, 3, 50));
        const double radius = std::pow(10.0, -2 * sample_uniform(random));
        const Ellipsoid ball = ball_around(random, Vector::Zero(2), 2, radius);
        const Vector direction = normals(random, 3);
        const SupportBracket bracket = SupportFunction(parameters, {&ball, 1}).bracket(span_of(direction));
        const double best = best_in_the_plane(parameters, ball, direction);
        EXPECT_NE(bracket.status, SupportStatus::limit) << "seed " << seed;
        EXPECT_NEAR(bracket.upper, best, 2e-9 * direction.norm()) << "seed " << seed;
        EXPECT_NEAR(bracket.lower, best, 2e-9 * direction.norm()) << "seed " << seed;
        cut += bracket.status == SupportStatus::converged;
    }
    EXPECT_GT(cut, 60);
}

// Both ends are proofs of their own: a member's value and a dual point's.
TEST(SupportBounds, OfAPolytopeMeetInHigherDimensions) {
    for (const double decades : {1.0, 6.0, 12.0})
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            Stream random = support::test_stream(seed, 26);
            const Index d = 3 + static_cast<Index>(seed % 8);
            const ParameterSet parameters =
                ParameterSet::polytope(support::random_signed_features(random, {8, 3, 2}, d, 5, 20));
            std::vector<Ellipsoid> balls;
            for (std::uint64_t j = 0; j <= seed % 2; ++j)
                balls.push_back(ball_around(random, Vector::Zero(d - 1), decades,
                                            std::pow(10.0, 1 - 3 * sample_uniform(random))));
            const Vector direction = normals(random, d);
            const SupportBracket bracket = SupportFunction(parameters, balls).bracket(span_of(direction));
            EXPECT_NE(bracket.status, SupportStatus::limit) << "seed " << seed << " decades " << decades;
            EXPECT_LE(bracket.upper - bracket.lower, 1.001e-9 * direction.norm()) << "seed " << seed;
            ASSERT_EQ(bracket.witness.size(), d);
            EXPECT_TRUE(parameters.contains(bracket.witness, 1e-12)) << "seed " << seed;
            for (const Index limit : {0, 2, 5}) {
                const SupportBracket stopped =
                    SupportFunction(parameters, balls, {.iterations = limit}).bracket(span_of(direction));
                EXPECT_GE(stopped.upper, bracket.lower) << "seed " << seed;
                EXPECT_LE(stopped.lower, bracket.upper) << "seed " << seed;
            }
        }
}

/// Two states whose laws are (c0 + psi0 . x, 1 - ...) and (c1 + psi1 . x, 1 - ...) of theta = (1, x).
ParameterSet two_rows(double c0, double x0, double y0, double c1, double x1, double y1) {
    const SignedFeatures data{
        2, 1, 3, {0, 2, 4}, {0, 1, 0, 1}, {c0, x0, y0, 1 - c0, -x0, -y0, c1, x1, y1, 1 - c1, -x1, -y1}, 20.0};
    return ParameterSet::of(FeatureMap::from_features(data));
}

TEST(SupportBounds, OfAPolytopeWithoutInsideStillUseItsInequalities) {
    // 0 <= x - y and 0 <= y - x: the line x = y, on which x^2 + y^2 <= 1/4 leaves x + y <= sqrt(1/2).
    const ParameterSet parameters = two_rows(0, 1, -1, 0, -1, 1);
    const Ellipsoid ball{Vector::Zero(2), Matrix::Identity(2, 2), 0.5};
    const SupportFunction function(parameters, {&ball, 1});
    EXPECT_FALSE(function.empty());
    const Vector across = (Vector(3) << 0, 1, -1).finished(), along = (Vector(3) << 0, 1, 1).finished();
    EXPECT_GE(function.bracket(span_of(across)).upper, 0);
    EXPECT_LE(function.bracket(span_of(across)).upper, 1e-8);
    EXPECT_GE(function.bracket(span_of(along)).upper, std::sqrt(0.5));
    EXPECT_LE(function.bracket(span_of(along)).upper, std::sqrt(0.5) + 1e-8);
}

TEST(SupportBounds, ProveThatAPolytopeMissesABall) {
    // x >= 1 by the first row; a ball about the origin of radius 0.99 misses that, of radius 1.01 it does
    // not.
    const ParameterSet parameters = two_rows(-0.5, 0.5, 0, 0.5, 0, 0.1);
    for (const double radius : {0.5, 0.99, 0.999999}) {
        const Ellipsoid ball{Vector::Zero(2), Matrix::Identity(2, 2), radius};
        EXPECT_TRUE(SupportFunction(parameters, {&ball, 1}).empty()) << radius;
    }
    const Ellipsoid ball{Vector::Zero(2), Matrix::Identity(2, 2), 1.01};
    const SupportFunction function(parameters, {&ball, 1});
    EXPECT_FALSE(function.empty());
    const Vector left = (Vector(3) << 0, -1, 0).finished();
    const SupportBracket bracket = function.bracket(span_of(left));
    EXPECT_NEAR(bracket.upper, -1, 2e-9);
    EXPECT_NEAR(bracket.lower, -1, 2e-9);
}

// Sets that share one point only must never be called empty, however the point is rounded.
TEST(SupportBounds, NeverCallTouchingSetsEmpty) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Stream random = support::test_stream(seed, 27);
        const Index d = 2 + static_cast<Index>(seed % 6);
        const ParameterSet parameters = ParameterSet::simplex(d);
        // About a point beyond a vertex, in a Euclidean metric, up to that vertex and one rounding more.
        const Vector vertex = parameters.space().basis.row(0).transpose();
        const double beyond = std::pow(10.0, 3 * sample_uniform(random) - 2),
                     weight = std::pow(10.0, sample_normal(random));
        Ellipsoid ball{(1 + beyond) * vertex, weight * Matrix::Identity(d - 1, d - 1), 0};
        ball.radius = (weight * (ball.centre - vertex)).norm() * (1 + 1e-15 * (1 + 1 / beyond));
        const SupportBracket bracket =
            SupportFunction(parameters, {&ball, 1}).bracket(span_of(Vector::Unit(d, 0)));
        EXPECT_NE(bracket.status, SupportStatus::empty) << "seed " << seed;
        EXPECT_GE(bracket.upper, 1 - 1e-15) << "seed " << seed;
    }
}

TEST(SupportBounds, RefuseWhatIsNotANumber) {
    const ParameterSet parameters = ParameterSet::simplex(3);
    const Ellipsoid ball{Vector::Zero(2), Matrix::Identity(2, 2), 0.1};
    const SupportFunction function(parameters, {&ball, 1});
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
        EXPECT_THROW(function.bracket(span_of((Vector(3) << 0, bad, 1).finished())), InvalidArgument);
        Ellipsoid other = ball;
        other.centre[1] = bad;
        EXPECT_THROW(SupportFunction(parameters, {&other, 1}), InvalidArgument);
        other = ball;
        other.factor(1, 0) = bad;
        EXPECT_THROW(SupportFunction(parameters, {&other, 1}), InvalidArgument);
        other = ball;
        other.radius = bad;
        EXPECT_THROW(SupportFunction(parameters, {&other, 1}), InvalidArgument);
    }
}

}  // namespace
}  // namespace alidade::support_bounds_test
