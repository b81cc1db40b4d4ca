#include "alidade/confidence/likelihood_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/likelihood.hpp"
#include "support/random_models.hpp"

namespace alidade {
namespace {

Counts uniform_data(const Problem& problem, std::int64_t episodes, std::uint64_t seed) {
    Counts counts(problem.shared_features(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_model(), seed);
    system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    return counts;
}

Problem garnet(Index features, int seed) {
    return make_builtin("builtin:garnet?states=5&actions=2&horizon=3&successors=4&concentration=1&features=" +
                        std::to_string(features) + "&seed=" + std::to_string(seed));
}

/// log of the mean of exp(L(theta) - L(reference)) over the segment of two weights, by Simpson's rule.
double exact_mixture(const LikelihoodRows& rows, const Vector& reference) {
    const int n = 20'000;
    double sum = 0;
    for (int k = 1; k < n; ++k) {
        const double x = static_cast<double>(k) / n;
        const Vector weights = (Vector(2) << x, 1 - x).finished();
        sum += (k % 2 == 0 ? 2.0 : 4.0) * std::exp(-log_likelihood_ratio(rows, reference, weights));
    }
    return std::log(sum / (3 * n));
}

// [likelihood §2]: never below the exact regret of the uniform mixture; 0.36 nats above it on average there.
TEST(DeterminantRegret, IsAboveThatOfTheExactMixture) {
    double total = 0;
    int cases = 0;
    for (int seed = 1; seed <= 8; ++seed)
        for (const std::int64_t episodes : {3, 30, 300, 3000})
            for (const LikelihoodRows& rows :
                 likelihood_rows(uniform_data(garnet(2, seed), episodes, 1), false)) {
                const Vector weights = maximise_likelihood(rows).weights;
                const double exact = -exact_mixture(rows, weights);
                for (const bool thorough : {false, true})
                    EXPECT_GE(determinant_regret(rows, weights, thorough), exact - 1e-6);
                total += determinant_regret(rows, weights, true) - exact;
                ++cases;
            }
    EXPECT_LT(total / cases, 0.8);
}

// [likelihood §3]: whatever is in the convex set is in its ellipsoid.
TEST(LikelihoodSets, LieInTheirEllipsoids) {
    int inside = 0;
    for (int seed = 1; seed <= 10; ++seed)
        for (const std::int64_t episodes : {1, 10, 100, 1000, 10'000}) {
            const auto rows = likelihood_rows(uniform_data(garnet(3 + seed % 3, seed), episodes, 2), false);
            const auto sets = likelihood_sets(rows, {});
            Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 43);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const Vector centre = sets[k].fit.weights;
                for (int trial = 0; trial < 300; ++trial) {
                    const auto point = sample_dirichlet(random, rows[k].features, trial % 3 == 0 ? 0.1 : 1.0);
                    const Eigen::Map<const Vector> corner(point.data(), rows[k].features);
                    // Towards the corner until the likelihood says stop: a point of the boundary.
                    double low = 0, high = 1;
                    for (int step = 0; step < 40; ++step) {
                        const double middle = (low + high) / 2;
                        (contains(rows[k], sets[k], centre + middle * (corner - centre)) ? low : high) =
                            middle;
                    }
                    const Vector member = centre + low * (corner - centre);
                    EXPECT_TRUE(contains(rows[k], sets[k], member));
                    EXPECT_LE(sets[k].ellipsoid.depth(member), 1 + 1e-9);
                    ++inside;
                }
            }
        }
    EXPECT_GE(inside, 10'000);
}

TEST(LikelihoodSets, ShrinkWithDataAndKeepTheTruth) {
    int failures = 0, checks = 0;
    for (int seed = 1; seed <= 60; ++seed) {
        const Problem problem = garnet(3, seed);
        double before = 1e9;
        bool covered = true;
        for (const std::int64_t episodes : {30, 300, 3000, 30'000}) {
            const auto rows =
                likelihood_rows(uniform_data(problem, episodes, static_cast<std::uint64_t>(seed)), false);
            const auto sets = likelihood_sets(rows, {});
            for (std::size_t k = 0; k < sets.size(); ++k)
                covered = covered && contains(rows[k], sets[k], problem.truth()->row(static_cast<Index>(k)));
            const double volume = 1 / sets[0].ellipsoid.estimate().factor.diagonal().prod();
            EXPECT_LT(volume, before);
            before = volume;
            ++checks;
        }
        failures += covered ? 0 : 1;
    }
    // Tight would be Binomial(60, 0.1): above 24 with probability below 1e-8.
    EXPECT_LE(failures, 24);
    EXPECT_EQ(checks, 240);
}

TEST(LikelihoodSets, PoolHomogeneousSteps) {
    ProblemDescription parts = garnet(3, 1).description();
    parts.homogeneous = true;
    parts.truth = parts.truth->topRows(1).eval();
    const Problem problem(parts);
    const Counts counts = uniform_data(problem, 1000, 1);
    const auto apart = likelihood_rows(counts, false), pooled = likelihood_rows(counts, true);
    ASSERT_EQ(pooled.size(), 1u);
    double observations = 0;
    for (const LikelihoodRows& rows : apart) observations += rows.observations;
    EXPECT_EQ(pooled[0].observations, observations);
    // One set, so all of delta.
    const double shared = likelihood_sets(pooled, {})[0].allowance;
    EXPECT_LT(shared, likelihood_allowance(mixture_regret(observations, 3), 2, 1, 0.1) + 1e-6);
}

}  // namespace
}  // namespace alidade
