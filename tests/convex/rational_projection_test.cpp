#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "alidade/convex/projection.hpp"
#include "support/metrics.hpp"
#include "support/random_models.hpp"

namespace alidade::rational_projection_test {
namespace {

__extension__ using Whole = __int128;
using Rows = std::vector<std::vector<Whole>>;

/// The solution of a square integer system as numerators over one positive denominator, by Bareiss's
/// fraction-free elimination: every intermediate number is a minor of the system, so nothing is rounded.
/// False if the system is singular.
bool solve_exactly(Rows system, std::vector<Whole>& numerators, Whole& denominator) {
    const std::size_t n = system.size();
    Whole last = 1;
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        while (pivot < n && system[pivot][k] == 0) ++pivot;
        if (pivot == n) return false;
        std::swap(system[k], system[pivot]);
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            for (std::size_t j = k + 1; j <= n; ++j)
                system[i][j] = (system[k][k] * system[i][j] - system[i][k] * system[k][j]) / last;
            system[i][k] = 0;
        }
        last = system[k][k];
        // Jordan's rows above share the pivot as their diagonal.
        for (std::size_t i = 0; i < k; ++i) system[i][i] = last;
    }
    const Whole sign = last < 0 ? -1 : 1;
    denominator = sign * last;
    numerators.resize(n);
    for (std::size_t i = 0; i < n; ++i) numerators[i] = sign * system[i][n];
    return true;
}

struct IntegerProblem {
    std::vector<std::vector<int>> metric;  ///< d x d, positive definite
    std::vector<int> estimate;             ///< over `unit`, sums to `unit`
    int unit = 1;
};

/// M = A A' + I with |A_ij| <= 2, an estimate whose elements are tenths.
IntegerProblem random_problem(std::uint64_t seed, Index d) {
    Stream random = support::test_stream(seed, 12);
    const auto draw = [&](int least, int most) {
        return least + static_cast<int>(sample_uniform(random) * (most - least + 1));
    };
    const auto n = static_cast<std::size_t>(d);
    std::vector<std::vector<int>> a(n, std::vector<int>(n));
    for (auto& row : a)
        for (int& x : row) x = draw(-2, 2);
    IntegerProblem problem{{}, std::vector<int>(n), 10};
    problem.metric.assign(n, std::vector<int>(n, 0));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            problem.metric[i][j] = std::inner_product(a[i].begin(), a[i].end(), a[j].begin(), i == j ? 1 : 0);
    int rest = problem.unit;
    for (std::size_t i = 0; i + 1 < n; ++i) rest -= problem.estimate[i] = draw(-12, 16);
    problem.estimate[n - 1] = rest;
    return problem;
}

/// min (theta - estimate)' M (theta - estimate) over the simplex: on the face of the positive elements F,
/// (M (theta - estimate))_F = nu, sum theta_F = 1; optimal if theta_F >= 0 and elsewhere the gradient is >=
/// nu. All comparisons are of integers. Returns the weights, the exact fractions rounded once.
Vector exact_weights(const IntegerProblem& problem, Index& faces_that_fit) {
    const std::size_t d = problem.estimate.size();
    faces_that_fit = 0;
    Vector result;
    for (unsigned face = 1; face < (1u << d); ++face) {
        std::vector<std::size_t> free;
        for (std::size_t i = 0; i < d; ++i)
            if ((face >> i) & 1u) free.push_back(i);
        const std::size_t k = free.size();
        // In units of 1/unit: M theta - nu = M estimate.
        Rows system(k + 1, std::vector<Whole>(k + 2, 0));
        const auto target = [&](std::size_t i) {
            Whole sum = 0;
            for (std::size_t j = 0; j < d; ++j) sum += Whole(problem.metric[i][j]) * problem.estimate[j];
            return sum;
        };
        for (std::size_t i = 0; i < k; ++i) {
            for (std::size_t j = 0; j < k; ++j) system[i][j] = problem.metric[free[i]][free[j]];
            system[i][k] = -1;
            system[i][k + 1] = target(free[i]);
            system[k][i] = 1;
        }
        system[k][k + 1] = problem.unit;
        std::vector<Whole> numerators;
        Whole denominator = 1;
        if (!solve_exactly(system, numerators, denominator)) continue;
        bool optimal = std::all_of(numerators.begin(), numerators.end() - 1, [](Whole x) { return x > 0; });
        for (std::size_t i = 0; i < d && optimal; ++i) {
            if ((face >> i) & 1u) continue;
            Whole gradient = -target(i) * denominator;
            for (std::size_t j = 0; j < k; ++j) gradient += Whole(problem.metric[i][free[j]]) * numerators[j];
            optimal = gradient >= numerators[k];
        }
        if (!optimal) continue;
        ++faces_that_fit;
        result = Vector::Zero(static_cast<Index>(d));
        for (std::size_t j = 0; j < k; ++j)
            result[static_cast<Index>(free[j])] =
                static_cast<double>(numerators[j]) / (static_cast<double>(denominator) * problem.unit);
    }
    return result;
}

// The arithmetic of the oracle is exact, so that one face fits and 1e-12 is all that the projection may err.
TEST(Projection, AgreesWithRationalArithmetic) {
    Index on_a_boundary = 0;
    for (Index d = 3; d <= 8; ++d)
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            const IntegerProblem problem = random_problem(100 * static_cast<std::uint64_t>(d) + seed, d);
            Index fitting = 0;
            const Vector expected = exact_weights(problem, fitting);
            ASSERT_EQ(fitting, 1) << "d " << d << " seed " << seed;
            const ParameterSet parameters = ParameterSet::simplex(d);
            const TangentSpace& space = parameters.space();
            Matrix metric(d, d);
            Vector estimate(d);
            for (Index i = 0; i < d; ++i) {
                const auto row = static_cast<std::size_t>(i);
                estimate[i] = static_cast<double>(problem.estimate[row]) / problem.unit;
                for (Index j = 0; j < d; ++j) metric(i, j) = problem.metric[row][static_cast<std::size_t>(j)];
            }
            const Matrix factor = support::lower_factor(space.basis.transpose() * metric * space.basis);
            const Projection projection = project(parameters, space.coordinates(estimate), factor);
            EXPECT_LE((projection.weights - expected).cwiseAbs().maxCoeff(), 1e-12)
                << "d " << d << " seed " << seed;
            const Vector offset = estimate - expected;
            EXPECT_NEAR(projection.residual, std::sqrt(offset.dot(metric * offset)),
                        1e-12 * (1 + metric.norm()));
            EXPECT_LE(projection.gap, 1e-12 * (1 + metric.norm()));
            on_a_boundary += expected.minCoeff() == 0;
        }
    EXPECT_GT(on_a_boundary, 150);
}

}  // namespace
}  // namespace alidade::rational_projection_test
