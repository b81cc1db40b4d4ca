#include "alidade/confidence/learned_linear.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/linear_regression.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/problem.hpp"
#include "support/small_problem.hpp"

namespace alidade::learned_linear_test {
namespace {

Counts uniform_counts(const Problem& problem, std::int64_t episodes, std::uint64_t seed) {
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), seed);
    if (episodes > 0) system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return counts;
}

std::vector<LinearEstimate> solved(const Task& task, const Counts& counts, double delta = 0.1) {
    return detail::LinearRegression(task, delta)
        .solve(detail::linear_statistics(*task.linear, counts, task.homogeneous));
}

// The formulas of docs/algorithms/lsvi.md, written out with dense inverses.
TEST(LinearRegression, HasTheRadiusThatIsPrinted) {
    for (const bool pooled : {false, true}) {
        ProblemDescription parts = testing::linear_description();
        parts.homogeneous = pooled;
        if (pooled) parts.measures.resize(1);
        const Problem problem(parts);
        const Task task = task_of(problem);
        const PairFeatures& features = *task.linear;
        const Counts counts = uniform_counts(problem, 200, 1);
        const auto estimates = solved(task, counts);
        const auto statistics = detail::linear_statistics(features, counts, pooled);
        ASSERT_EQ(estimates.size(), pooled ? 1U : 2U);
        for (std::size_t k = 0; k < estimates.size(); ++k) {
            const double lambda = 2 / (1.5 * 1.5);
            Matrix precision = statistics[k].rows.gram.selfadjointView<Eigen::Lower>();
            precision += lambda * Matrix::Identity(2, 2);
            const double log_det = std::log(precision.determinant() / (lambda * lambda));
            // All three states can follow at every step.
            const double radius =
                0.5 * std::sqrt(log_det + 2 * (2 * std::log(2.0) + std::log((pooled ? 1 : 2) / 0.1))) +
                std::sqrt(2.0);
            EXPECT_GE(estimates[k].radius, radius);
            EXPECT_NEAR(estimates[k].radius, radius, 1e-7);
            EXPECT_NEAR((estimates[k].measures - precision.inverse() * statistics[k].arrivals).norm(), 0,
                        1e-12);
            const Matrix metric = estimates[k].inverse_factor.transpose() * estimates[k].inverse_factor;
            EXPECT_NEAR((metric - precision.inverse()).norm(), 0, 1e-12);
        }
    }
}

// Where one state only can follow there is no noise: the bias alone is left.
TEST(LinearRegression, CountsOnlyStatesThatCanFollow) {
    ProblemDescription parts = testing::linear_description();
    parts.start = StartLaw(0);
    parts.linear = std::make_shared<const PairFeatures>(SuccessorMap(3, 1, {0, 1, 3, 4}, {1, 0, 2, 2}), 1,
                                                        std::vector<double>{1, 1, 1}, 1.0);
    parts.horizon = 4;
    parts.measures.clear();
    const detail::LinearRegression regression(task_of(Problem(parts)), 0.1);
    EXPECT_EQ(regression.successors(0), 1);  // from 0 to 1
    EXPECT_EQ(regression.successors(1), 2);  // from 1 to 0 or 2
    EXPECT_EQ(regression.successors(2), 2);  // from 0 to 1, from 2 to 2
    EXPECT_EQ(regression.regularisation(), 1);
    parts.homogeneous = true;
    EXPECT_EQ(detail::LinearRegression(task_of(Problem(parts)), 0.1).successors(0), 3);
}

TEST(LearnedLinear, HandsOverLawsWithinReachOfTheTruth) {
    for (const char* uri : {"builtin:linear-random", "builtin:linear-lock", "builtin:linear-grid"}) {
        const Problem problem = make_builtin(uri);
        const TransitionModel truth = problem.true_system();
        for (const std::int64_t episodes : {0, 10, 1000, 100'000}) {
            const Task task = task_of(problem);
            const LearnedLinear learned(task, solved(task, uniform_counts(problem, episodes, 2)), 0.1);
            EXPECT_EQ(learned.linear(), &learned);
            EXPECT_EQ(learned.mixture(), nullptr);
            EXPECT_TRUE(learned.contains(truth)) << uri << " " << episodes;
            for (Step h = 0; h + 1 < problem.shape().horizon; ++h)
                for (Index pair = 0; pair < problem.shape().pairs(); ++pair) {
                    const auto law = learned.model().probabilities(h, pair),
                               real = truth.probabilities(h, pair);
                    double distance = 0, sum = 0;
                    for (std::size_t j = 0; j < law.size(); ++j) {
                        distance += std::max(0.0, law[j] - real[j]);
                        sum += law[j];
                    }
                    EXPECT_NEAR(sum, 1, 1e-12);
                    EXPECT_LE(distance, std::min(1.0, learned.bonus(h, pair)) + 1e-12);
                    EXPECT_LE(learned.radius(h, pair), std::min(1.0, learned.bonus(h, pair)));
                }
        }
    }
}

// Scaling features and measures against each other is another way to write the same problem.
TEST(LearnedLinear, DoesNotDependOnTheScaleOfFeatures) {
    const Problem problem = make_builtin("builtin:linear-random");
    const Counts counts = uniform_counts(problem, 3000, 3);
    const Task task = task_of(problem);
    const LearnedLinear learned(task, solved(task, counts), 0.1);
    for (const double scale : {1e-8, 0.01, 0.5}) {
        std::vector<double> values(task.linear->values().begin(), task.linear->values().end());
        for (double& value : values) value *= scale;
        Task scaled = task;
        scaled.linear = std::make_shared<const PairFeatures>(static_cast<const SuccessorMap&>(*task.linear),
                                                             task.linear->features(), std::move(values),
                                                             task.linear->norm_bound() / scale);
        const LearnedLinear other(scaled, solved(scaled, counts), 0.1);
        for (Step h = 0; h < 4; ++h)
            for (Index pair = 0; pair < problem.shape().pairs(); ++pair)
                EXPECT_NEAR(other.bonus(h, pair), learned.bonus(h, pair), 1e-6 * learned.bonus(h, pair))
                    << scale;
    }
}

TEST(LearnedLinear, SaysThatTheSystemIsNoSuchMdp) {
    // One feature says that both states behave alike; they do the opposite.
    ProblemDescription parts;
    parts.name = "wrong";
    parts.horizon = 2;
    parts.linear = std::make_shared<const PairFeatures>(
        SuccessorMap(2, 2, {0, 2, 3, 5, 6}, {0, 1, 0, 0, 1, 1}), 1, std::vector<double>{1, 1, 1, 1}, 1.0);
    const Task task = task_of(Problem(parts));
    Counts counts(task.linear, 2);
    // Whatever the law, action 1 of state 0 leads to state 0 alone; the others were seen to lead to 1.
    counts.add(0, 1, 100'000);
    EXPECT_THROW(LearnedLinear(task, solved(task, counts), 0.1), ModelContradiction);
}

TEST(LearnedLinear, RefusesWhatDoesNotFit) {
    const Problem problem = make_builtin("builtin:linear-random");
    const Task task = task_of(problem);
    std::vector<LinearEstimate> estimates = solved(task, uniform_counts(problem, 5, 1));
    EXPECT_THROW(LearnedLinear(task_of(make_builtin("builtin:garnet")), estimates, 0.1), InvalidArgument);
    EXPECT_THROW(LearnedLinear(task, estimates, 1.5), InvalidArgument);
    estimates[1].radius = -1;
    EXPECT_THROW(LearnedLinear(task, estimates, 0.1), InvalidArgument);
    estimates.pop_back();
    EXPECT_THROW(LearnedLinear(task, estimates, 0.1), InvalidArgument);
    EXPECT_THROW(detail::LinearRegression(task, 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::learned_linear_test
