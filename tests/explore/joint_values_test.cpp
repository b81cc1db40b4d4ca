#include "alidade/explore/joint_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/explore/joint_ascent.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/joint_problems.hpp"

namespace alidade::joint_values_test {
namespace {

using detail::JointPoint;
using detail::JointValues;

JointPoint random_point(Stream& random, const detail::JointProblem& problem) {
    detail::JointAscent ascent(problem, {.joint = true});
    return ascent.random_start(random.next() % 1000, 1);
}

double plain_value(const detail::JointProblem& problem, const JointPoint& point) {
    return support::plain_joint_value(problem, {point.actions.begin(), point.actions.end()},
                                      {point.rewards.begin(), point.rewards.end()}, point.weights);
}

// The definition, by another recursion; and what is changed bit by bit is what is computed anew.
TEST(JointValues, AreThoseOfTheDefinition) {
    for (int seed = 0; seed < support::repetitions(60, 12); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 140);
        support::JointSizes sizes{.model = {.shape = {3, 2, 4}, .features = 2, .successors = 2 + seed % 2}};
        sizes.model.homogeneous = seed % 3 == 0;
        sizes.model.start_law = seed % 2 == 0;
        sizes.robust = seed % 4 < 2;
        sizes.clipped = seed % 5 == 0;
        const auto made = support::random_joint_problem(random, sizes);
        JointPoint point = random_point(random, made.problem);
        const auto robust = detail::RobustBackup::attained;
        JointValues values(made.problem, point, 1, robust);
        EXPECT_NEAR(values.value(), plain_value(made.problem, point), 1e-6 * (1 + values.value()));
        for (int change = 0; change < 20; ++change) {
            const Step h = sample_index(random, 4);
            const State s = sample_index(random, 3);
            values.keep(h);
            const JointPoint before = values.point();
            const double value = values.value();
            values.choose(h, s, sample_index(random, 2), sample_index(random, 2) == 1);
            values.evaluate_choice(h, s);
            EXPECT_EQ(values.value(), JointValues(made.problem, values.point(), 1, robust).value());
            if (change % 2 == 0) continue;
            values.undo();
            EXPECT_EQ(values.value(), value);
            EXPECT_EQ(values.point(), before);
        }
        // A value from above for searches, never below what is attained.
        EXPECT_GE(JointValues(made.problem, values.point()).value() + 1e-9, values.value());
    }
}

// Where nothing is clipped and no backup changes its kind, the adjoints are the derivatives: by rewards and
// weights, and by each value through them.
TEST(JointValues, HaveTheDerivativesOfCentralDifferences) {
    double worst = 0;
    int tried = 0;
    for (int seed = 0; seed < support::repetitions(20, 4); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 141);
        support::JointSizes sizes{.model = {.shape = {4, 2, 4}, .features = 3, .successors = 3}};
        sizes.model.homogeneous = seed % 4 == 0;
        const auto made = support::random_joint_problem(random, sizes);
        const JointPoint point = random_point(random, made.problem);
        JointValues values(made.problem, point);
        detail::JointAdjoint adjoint;
        values.differentiate(4, true, adjoint);
        const auto central = [&](const auto& value_at, double step) {
            return (value_at(step) - value_at(-step)) / (2 * step);
        };
        const std::vector<Action> actions(point.actions.begin(), point.actions.end());
        const std::vector<double> rewards(point.rewards.begin(), point.rewards.end());
        const auto expect_slope = [&](double slope, double difference) {
            worst = std::max(worst, std::abs(slope - difference) / (1e-2 + std::abs(difference)));
            ++tried;
        };
        for (std::size_t place = 4; place < rewards.size(); ++place)
            expect_slope(adjoint.model[place], central(
                                                   [&](double step) {
                                                       std::vector<double> moved = rewards;
                                                       moved[place] += step;
                                                       return support::plain_joint_value(
                                                           made.problem, actions, moved, point.weights);
                                                   },
                                                   1e-6));
        for (std::size_t part = 0; part < point.weights.size(); ++part)
            for (Index i = 0; i < 3; ++i)
                expect_slope(adjoint.weights[part][i], central(
                                                           [&](double step) {
                                                               std::vector<Vector> moved = point.weights;
                                                               moved[part][i] += step;
                                                               return support::plain_joint_value(
                                                                   made.problem, actions, rewards, moved);
                                                           },
                                                           1e-6));
    }
    EXPECT_GT(tried, support::repetitions(300, 60));
    EXPECT_LT(worst, 1e-5);
}

// [theory §2.1; T4] The value that the paper calls monotone is not: as V at the next step falls, it rises.
// Over the set itself, the robust backup, it cannot.
TEST(JointValues, OfThePaperRiseWhereTheNextOnesFall) {
    const Matrix rows = (Matrix(2, 2) << 0.9, 0.1, 0.1, 0.9).finished();  // base models by successors
    const Matrix precision = Matrix::Identity(2, 2) + 1000 * Matrix::Ones(2, 2);
    const auto backup = [&](const Vector& value) {
        const Vector phi = rows * value;
        return 4 * std::sqrt(phi.dot(support::inverse(precision) * phi)) + phi.mean();
    };
    const double higher = backup(Vector::Ones(2)), lower = backup(Vector::Unit(2, 0));
    EXPECT_NEAR(higher, 1.13, 0.005);
    EXPECT_NEAR(lower, 2.76, 0.005);
    const PointEstimate about = estimate_with(Vector::Zero(1), Matrix::Constant(1, 1, 3.0));
    const ConfidenceSet set(ParameterSet::simplex(2), about, 0.5);
    const auto robust = [&](const Vector& value) {
        const Vector phi = rows * value;
        return set.exact_support({phi.data(), 2}).upper;
    };
    Stream random = support::test_stream(142);
    for (int trial = 0; trial < 200; ++trial) {
        Vector low(2), high(2);
        for (Index s = 0; s < 2; ++s) {
            low[s] = sample_uniform(random);
            high[s] = low[s] + sample_uniform(random);
        }
        EXPECT_GE(robust(high), robust(low) - 1e-9);
    }
}

}  // namespace
}  // namespace alidade::joint_values_test
