// Attacks on the weighted regression: whoever chooses rows knows the truth and what the noise has been so
// far, chances are rare or certain, and weights change from batch to batch.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "alidade/confidence/weighted_regression.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/radii.hpp"
#include "support/dense_algebra.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::attack_weighted_test {
namespace {

/// A regression on rows that an adversary chooses among a few, noise of two values.
struct Cell {
    Index dimension;
    double chance;         ///< of the rare outcome
    double variance_slip;  ///< sigma^2 is this many times the variance; at least the floor
    bool adversarial;      ///< picks the row along which the noise already lies
};

struct Worst {
    int failures = 0, decided = 0;
    double ratio = 0;
};

/// |S| over the radius at every time at which there is one, for as many runs; shrink = 1 is the bound itself.
Worst simulate(const Cell& cell, int runs, int steps, double failure, double shrink) {
    Worst worst;
    const Index m = cell.dimension;
    const double lambda = 1;
    for (int run = 0; run < runs; ++run) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(run), 95);
        std::vector<Vector> arms;
        for (Index i = 0; i < 2 * m; ++i) {
            Vector x(m);
            for (Index k = 0; k < m; ++k) x[k] = sample_normal(random);
            arms.push_back(x / x.norm());
        }
        const double p = cell.chance;
        const double variance = std::max(cell.variance_slip * p * (1 - p), 1.0 / 2000);
        const double sigma = std::sqrt(variance);
        Matrix z = lambda * Matrix::Identity(m, m);
        Vector sum = Vector::Zero(m);
        std::vector<bool> used(arms.size(), false);
        bool failed = false, decided = false;
        for (int t = 0; t < steps; ++t) {
            // The row that is most of the way along the noise, as long as that is a gamble worth taking.
            std::size_t chosen = static_cast<std::size_t>(sample_index(random, 2 * m));
            if (cell.adversarial)
                for (std::size_t i = 0; i < arms.size(); ++i)
                    if (std::abs(arms[i].dot(sum)) > std::abs(arms[chosen].dot(sum))) chosen = i;
            const Vector x = arms[chosen] / sigma;
            const double noise = ((sample_uniform(random) < p ? 1.0 : 0.0) - p) / sigma;
            z += x * x.transpose();
            sum += x * noise;
            used[chosen] = true;
            if (t % 20 != 19) continue;
            const Matrix inverse = support::inverse(z);
            double leverage = 0;
            for (std::size_t i = 0; i < arms.size(); ++i)
                if (used[i])
                    leverage = std::max(leverage, std::sqrt(arms[i].dot(inverse * arms[i])) / variance);
            const double radius = detail::weighted_radius(
                {m, std::log(support::determinant(z)) - static_cast<double>(m) * std::log(lambda), leverage,
                 failure});
            if (!std::isfinite(radius)) continue;
            decided = true;
            const double ratio = std::sqrt(sum.dot(inverse * sum)) / (shrink * radius);
            worst.ratio = std::max(worst.ratio, ratio);
            failed = failed || ratio > 1;
        }
        worst.failures += failed ? 1 : 0;
        worst.decided += decided ? 1 : 0;
    }
    return worst;
}

// At most delta failures in every cell, however rows are chosen; with a third of the radius more, so that the
// attack could find one.
TEST(AttackWeighted, RadiusHoldsForRowsThatAreChosenAgainstIt) {
    const int runs = support::runs(60, 1000);
    const int steps = support::effort_is("long") ? 4000 : 1500;
    double largest = 0;
    int decided = 0, found = 0;
    for (const Index m : {1, 3})
        for (const double chance : {0.02, 0.3, 1e-4})
            for (const double slip : {1.0, 4.0})
                for (const bool adversarial : {false, true}) {
                    const Cell cell{m, chance, slip, adversarial};
                    const Worst worst = simulate(cell, runs, steps, 0.1, 1);
                    EXPECT_LE(worst.failures, support::allowed_failures(runs))
                        << m << ", " << chance << ", " << slip << ", " << adversarial;
                    largest = std::max(largest, worst.ratio);
                    decided += worst.decided;
                    if (slip == 1 && adversarial) found += simulate(cell, runs, steps, 0.1, 0.3).failures;
                }
    EXPECT_LE(largest, 1);
    if (support::effort_is("sanitized")) return;
    EXPECT_GT(decided, 4 * runs);
    EXPECT_GT(found, 0);
    RecordProperty("largest ratio", std::to_string(largest));
}

/// A garnet whose truth is one base model at some steps: chances of zero and one, and faces of the simplex.
Problem problem_on_faces(std::uint64_t seed, double concentration) {
    Problem garnet = make_builtin("builtin:garnet?states=5&actions=2&features=3&horizon=4&successors=3" +
                                  std::string("&concentration=") + std::to_string(concentration) +
                                  "&seed=" + std::to_string(seed));
    ProblemDescription parts = garnet.description();
    Matrix truth = *parts.truth;
    for (Index h = 0; h < truth.rows(); ++h)
        if (h % 2 == 0) truth.row(h) = Vector::Unit(truth.cols(), h / 2).transpose();
    parts.truth = truth;
    return Problem(std::move(parts));
}

TEST(AttackWeighted, SetsHoldTheTruthOnFacesWhoeverActs) {
    const int runs = support::runs(60, 600);
    int failures = 0;
    double deepest = 0;
    for (int seed = 0; seed < runs; ++seed) {
        const auto number = static_cast<std::uint64_t>(seed);
        const Problem problem =
            seed % 3 == 0 ? make_builtin("builtin:hard?features=3&horizon=5&seed=" + std::to_string(seed))
                          : problem_on_faces(number, seed % 3 == 1 ? 0.05 : 1.0);
        const MixtureModel truth = problem.true_model();
        CountSplittingDeployer system(truth, number);
        // Weights are fixed anew at every replanning: often, seldom, and after every episode.
        const char* const schedules[] = {"growth=0.5", "doubling", "growth=0.05"};
        Exploration exploration(task_of(problem), {.algorithm = seed % 2 == 0 ? "uniform" : "hoeffding",
                                                   .confidence = "weighted",
                                                   .delta = 0.1,
                                                   .seed = number,
                                                   .schedule = parse_schedule(schedules[seed / 3 % 3])});
        bool covered = true;
        for (const std::int64_t episodes : {30, 1000, 100'000}) {
            exploration.run(system, {.episodes = support::episodes(episodes, std::int64_t{30})});
            const Knowledge now = exploration.explorer().knowledge();
            deepest = std::max(deepest, now.learned->depth(truth));
            covered = covered && now.learned->contains(truth);
        }
        failures += covered ? 0 : 1;
    }
    EXPECT_LE(failures, support::allowed_failures(runs));
    RecordProperty("deepest", std::to_string(deepest));
    EXPECT_LT(deepest, 1.1);
}

// 1e12 rows of one direction and ten of another: what the ten say is neither lost nor trusted too much.
TEST(AttackWeighted, SetsHoldWhenDirectionsAreKnownVeryDifferently) {
    const BaseKernel a{"a", 3, 3, {0, 2, 4, 5}, {0, 1, 0, 2, 2}, {0.9, 0.1, 0.5, 0.5, 1}};
    const BaseKernel b{"b", 3, 3, {0, 2, 4, 5}, {0, 1, 0, 2, 2}, {0.2, 0.8, 0.5, 0.5, 1}};
    const BaseKernel c{"c", 3, 3, {0, 2, 4, 5}, {0, 1, 0, 2, 2}, {0.9, 0.1, 0.001, 0.999, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, std::vector{a, b, c}));
    const detail::WeightedRegression regression({features, 2, false, 0, 0.1});
    const detail::ValueRegression& coarse = regression.coarse();
    const Vector truth = (Vector(3) << 0.5, 0.3, 0.2).finished();
    const Vector zeta = coarse.features().space.coordinates(truth);
    for (const std::int64_t many : {std::int64_t{10}, std::int64_t{100'000}, std::int64_t{1'000'000'000'000}})
        for (const double noise : {0.0, 1.0, -1.0}) {
            detail::RidgeStatistics plain(coarse.dimension());
            detail::WeightedStatistics weighted(coarse.dimension(), features->pairs());
            for (const Index pair : {0, 1}) {
                const Index entry = features->first_entry(pair), p = coarse.dimension();
                const Vector feature = coarse.features().psi(entry);
                const std::span<const double> psi(feature.data(), static_cast<std::size_t>(p));
                const std::int64_t visits = pair == 0 ? many : 10;
                // Of the noise one standard deviation either way.
                const double chance = Eigen::Map<const Vector>(features->phi(entry).data(), 3).dot(truth);
                const auto n = static_cast<double>(visits);
                const double residuals = n * Eigen::Map<const Vector>(psi.data(), p).dot(zeta) +
                                         noise * std::sqrt(n * chance * (1 - chance));
                plain.add(psi.data(), visits, residuals);
                weighted.add(pair, psi, visits, residuals, pair == 0 ? 0.25 : 1.0 / 2000);
            }
            const auto solved = coarse.solve(std::vector{plain});
            const auto sets = regression.solve(solved, std::vector{weighted}, {}, 1);
            EXPECT_TRUE(sets.front().contains(truth)) << many << ", " << noise;
        }
}

}  // namespace
}  // namespace alidade::attack_weighted_test
