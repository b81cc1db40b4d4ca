#include "alidade/confidence/signed_likelihood.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/families/hard.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::signed_likelihood_test {
namespace {

using detail::SignedLikelihood;

SharedFeatures hard_features(Index d = 3, Index horizon = 4) {
    return std::make_shared<const FeatureMap>(detail::HardLine(d, horizon, 2000).map(1.5));
}

/// A member of the weights that make laws, towards a random corner.
Vector random_member(Stream& random, const SignedLikelihood& likelihood) {
    const ParameterSet& parameters = likelihood.parameters();
    const Index p = parameters.space().dimension();
    Vector zeta(p);
    for (double& x : zeta) x = sample_normal(random);
    zeta *= 2 * parameters.radius() / zeta.norm();
    const Projection corner = project(parameters, zeta, Matrix::Identity(p, p));
    const double share = sample_uniform(random);
    return share * corner.weights + (1 - share) * likelihood.inner();
}

/// Transitions under weights, so many of each pair.
std::vector<double> drawn(Stream& random, const FeatureMap& features, const Vector& weights,
                          std::int64_t visits) {
    std::vector<double> counts(at(features.entries()), 0.0);
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        std::vector<double> law;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
            law.push_back(
                std::max(0.0, weights.dot(Eigen::Map<const Vector>(features.phi(e).data(), weights.size()))));
        std::vector<std::int64_t> seen(law.size());
        sample_multinomial(random, visits, law, seen);
        for (std::size_t j = 0; j < seen.size(); ++j)
            counts[at(features.first_entry(pair)) + j] = static_cast<double>(seen[j]);
    }
    return counts;
}

TEST(SignedLikelihood, StartsFromAnInnerPoint) {
    for (const Index d : {2, 3, 5}) {
        const SharedFeatures features = hard_features(d);
        const SignedLikelihood likelihood(features);
        EXPECT_TRUE(likelihood.parameters().contains(likelihood.inner()));
        const ProbabilityRows& rows = *likelihood.parameters().rows();
        Vector probabilities;
        rows.probabilities(likelihood.parameters().space().coordinates(likelihood.inner()), probabilities);
        for (Index e = 0; e < rows.entries(); ++e)
            if (rows.normal(e).norm() > 1e-9) {
                EXPECT_GT(probabilities[e], 1e-9);
            }
    }
}

// No member has a likelihood that is larger by more than the gap, at whatever point it is measured; at the
// fit hardly any larger one.
TEST(SignedLikelihood, MeasuresHowFarFromTheBestAPointIs) {
    for (int seed = 0; seed < support::repetitions(20, 3); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 160);
        const SharedFeatures features = hard_features();
        const SignedLikelihood likelihood(features);
        const Vector truth = random_member(random, likelihood);
        // After very many transitions faces are nearer than there are digits: the search must not leave them.
        const bool many = seed % 4 == 3;
        const auto counts =
            drawn(random, *features, truth, many ? 1'000'000'000'000 : 1 + sample_index(random, 3000));
        for (const double pseudo : {1e-6, 0.5, 100.0}) {
            const Vector fit = likelihood.fit(counts, pseudo);
            EXPECT_TRUE(likelihood.parameters().contains(fit));
            Vector slope = Vector::Zero(fit.size());
            for (Index e = 0; e < features->entries(); ++e) {
                const Eigen::Map<const Vector> phi(features->phi(e).data(), fit.size());
                if (counts[at(e)] > 0) slope += counts[at(e)] / phi.dot(fit) * phi;
            }
            const double reached = detail::signed_log_likelihood(*features, counts, fit);
            const double gap = likelihood.gap(slope, fit);
            for (int member = 0; member < 200; ++member)
                EXPECT_LE(detail::signed_log_likelihood(*features, counts, random_member(random, likelihood)),
                          reached + gap + 1e-9 + 1e-12 * std::abs(reached));
            if (pseudo == 1e-6 && !many) {
                EXPECT_LT(gap, 0.01);
            }
        }
    }
}

// The ellipsoid holds every member whose likelihood is as large as the set asks for, and not all members.
TEST(PredictionSet, ContainsEveryMemberThatIsLikelyEnough) {
    Index inside = 0, outside = 0, excluded = 0;
    for (int seed = 0; seed < support::repetitions(30, 4); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 161);
        const SharedFeatures features = hard_features();
        const SignedLikelihood likelihood(features);
        const Vector truth = random_member(random, likelihood);
        const auto counts = drawn(random, *features, truth, 20 + sample_index(random, 2000));
        const Vector predictor = random_member(random, likelihood);
        const double predicted = detail::signed_log_likelihood(*features, counts, predictor);
        const ConfidenceSet set = detail::prediction_set(likelihood, *features, counts, predicted, 0.05);
        for (int member = 0; member < 300; ++member) {
            const Vector other = truth + std::pow(10.0, -3 * sample_uniform(random)) *
                                             (random_member(random, likelihood) - truth);
            const double likely = detail::signed_log_likelihood(*features, counts, other);
            const bool asked = likely >= predicted - std::log(1 / 0.05);
            if (asked) {
                EXPECT_LE(set.depth(other), 1 + 1e-9);
            }
            inside += asked ? 1 : 0;
            outside += asked ? 0 : 1;
            excluded += set.depth(other) > 1 ? 1 : 0;
        }
    }
    EXPECT_GT(inside, support::repetitions(300, 40));
    EXPECT_GT(outside, support::repetitions(200, 10));
    EXPECT_GT(excluded, outside / 10);
}

// Predictions that are better than any weights can be are a contradiction; of what was predicted to be
// impossible nothing follows.
TEST(PredictionSet, KnowsItsLimits) {
    const SharedFeatures features = hard_features();
    const SignedLikelihood likelihood(features);
    Stream random = support::test_stream(162);
    const auto counts = drawn(random, *features, likelihood.inner(), 100);
    EXPECT_THROW(detail::prediction_set(likelihood, *features, counts, 0.0, 0.05), ModelContradiction);
    const ConfidenceSet everything =
        detail::prediction_set(likelihood, *features, counts, -std::numeric_limits<double>::infinity(), 0.05);
    for (int member = 0; member < 50; ++member)
        EXPECT_LE(everything.depth(random_member(random, likelihood)), 1);
    const ConfidenceSet before = detail::prediction_set(
        likelihood, *features, std::vector<double>(at(features->entries()), 0.0), 0.0, 0.05);
    for (int member = 0; member < 50; ++member) EXPECT_LE(before.depth(random_member(random, likelihood)), 1);
    EXPECT_THROW(detail::prediction_set(likelihood, *features, counts, -10.0, 0), InvalidArgument);
}

}  // namespace
}  // namespace alidade::signed_likelihood_test
