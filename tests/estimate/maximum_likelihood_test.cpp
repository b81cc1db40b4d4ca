#include "alidade/estimate/maximum_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::maximum_likelihood_test {
namespace {

/// Rows of random laws, seen as often as weights from Dirichlet(concentration) would have it.
detail::LikelihoodRows random_rows(std::uint64_t seed, Index d, double concentration, double visits) {
    Stream random = support::test_stream(seed, 41);
    detail::LikelihoodRows rows;
    rows.features = d;
    const auto truth = sample_dirichlet(random, d, concentration);
    for (int pair = 0; pair < 6; ++pair) {
        std::vector<std::vector<double>> laws;
        for (Index i = 0; i < d; ++i) laws.push_back(sample_dirichlet(random, 4, 0.5));
        for (std::size_t j = 0; j < 4; ++j) {
            double probability = 0;
            for (std::size_t i = 0; i < truth.size(); ++i) probability += truth[i] * laws[i][j];
            const double seen = std::floor(visits * probability + sample_uniform(random));
            if (seen == 0) continue;
            for (const auto& law : laws) rows.rows.push_back(law[j]);
            rows.counts.push_back(seen);
            rows.observations += seen;
        }
    }
    return rows;
}

/// The EM algorithm of mixture weights: slow, and monotone without any step size.
Vector by_expectation_maximisation(const detail::LikelihoodRows& rows, int rounds) {
    const Index d = rows.features;
    Vector weights = Vector::Constant(d, 1.0 / static_cast<double>(d));
    for (int round = 0; round < rounds; ++round) {
        Vector next = Vector::Zero(d);
        for (Index k = 0; k < rows.size(); ++k) {
            const Eigen::Map<const Vector> f(rows.row(k), d);
            next += rows.counts[static_cast<std::size_t>(k)] / f.dot(weights) * f.cwiseProduct(weights);
        }
        weights = next / next.sum();
    }
    return weights;
}

TEST(MaximumLikelihood, AgreesWithExpectationMaximisation) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Index d = 2 + static_cast<Index>(seed % 4);
        const detail::LikelihoodRows rows = random_rows(seed, d, seed % 2 == 0 ? 1.0 : 0.2, 200);
        const detail::LikelihoodFit fit = detail::maximise_likelihood(rows);
        const Vector other = by_expectation_maximisation(rows, 3000);
        // Neither is better by more than what EM still lacks, and the gap says so of ours.
        EXPECT_GE(detail::log_likelihood_ratio(rows, fit.weights, other), -1e-4) << "seed " << seed;
        EXPECT_LE(detail::log_likelihood_ratio(rows, other, fit.weights), fit.gap);
        EXPECT_LE(fit.gap, 2e-6 * static_cast<double>(d) + 1e-9);
        EXPECT_NEAR(fit.weights.sum(), 1, 1e-12);
        EXPECT_GT(fit.weights.minCoeff(), 0);
    }
}

// By concavity: no weights are better than the gap allows, wherever the fit stopped.
TEST(MaximumLikelihood, MeasuresAGapThatHoldsWhereverItStops) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const detail::LikelihoodRows rows = random_rows(seed, 4, 0.5, 50);
        for (const Index steps : {1, 2, 5, 200}) {
            const detail::LikelihoodFit fit = detail::maximise_likelihood(rows, {.steps = steps});
            Stream random = support::test_stream(seed, 42);
            for (int trial = 0; trial < 50; ++trial) {
                const auto point = sample_dirichlet(random, 4, trial % 2 == 0 ? 1.0 : 0.1);
                const Eigen::Map<const Vector> weights(point.data(), 4);
                EXPECT_LE(detail::log_likelihood_ratio(rows, weights, fit.weights), fit.gap);
            }
        }
    }
}

TEST(MaximumLikelihood, IsTheSameFromAWarmStart) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const detail::LikelihoodRows rows = random_rows(seed, 5, 0.5, 1e5);
        const detail::LikelihoodFit cold = detail::maximise_likelihood(rows);
        const Vector start = 0.9 * cold.weights + Vector::Constant(5, 0.02);
        const detail::LikelihoodFit warm = detail::maximise_likelihood(rows, {}, start);
        EXPECT_LT((warm.weights - cold.weights).norm(), 1e-7);
        EXPECT_LE(warm.steps, cold.steps);
    }
}

// By hand: f = (1, 0) twice and (0, 1) once: theta = (2/3, 1/3).
TEST(MaximumLikelihood, CountsWhatOnlyOneModelCanProduce) {
    const detail::LikelihoodRows rows{2, {1, 0, 0, 1}, {2, 1}, 3};
    EXPECT_NEAR(detail::maximise_likelihood(rows).weights[0], 2.0 / 3, 1e-6);
    EXPECT_NEAR(
        detail::log_likelihood_ratio(rows, Vector::Constant(2, 0.5), (Vector(2) << 0.25, 0.75).finished()),
        2 * std::log(2.0) + std::log(2.0 / 3), 1e-12);
}

TEST(MaximumLikelihood, RefusesSignedFeaturesAndBadStarts) {
    const detail::LikelihoodRows rows{2, {1, 0, 0, 1}, {2, 1}, 3};
    EXPECT_THROW(detail::maximise_likelihood(rows, {}, Vector::Zero(2)), InvalidArgument);
    EXPECT_THROW(detail::maximise_likelihood(rows, {.barrier = 0}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::maximum_likelihood_test
