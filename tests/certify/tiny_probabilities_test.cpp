#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/error.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "support/learned_models.hpp"

// Probabilities down to the least number there is.
namespace alidade::tiny_probabilities_test {
namespace {

constexpr double least_number = std::numeric_limits<double>::denorm_min();

/// One action; from state 0 to 0, 1 or 2, of which 2 has probability `tiny` under the first base model and is
/// impossible under the second.
SharedFeatures rare_features(double tiny) {
    const BaseKernel a{"a", 3, 3, {0, 3, 4, 5}, {0, 1, 2, 1, 2}, {0.5, 0.5, tiny, 1, 1}};
    const BaseKernel b{"b", 3, 3, {0, 2, 3, 4}, {0, 1, 1, 2}, {0.3, 0.7, 1, 1}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, std::vector{a, b}));
}

Counts rare_counts(const SharedFeatures& features) {
    Counts counts(features, 2);
    const std::vector<Action> actions{0, 0};
    for (const auto& [next, times] : std::vector<std::pair<State, std::int64_t>>{{2, 1}, {1, 50}, {0, 30}})
        counts.add(std::vector<State>{0, next}, actions, times);
    return counts;
}

// ln L = ln x + 30 ln(.5x + .3(1-x)) + 50 ln(.5x + .7(1-x)) + const: the tiny factor does not matter.
double best_weight() {
    double low = 0, high = 1;
    for (int step = 0; step < 200; ++step) {
        const double x = 0.5 * (low + high);
        const double slope = 1 / x + 30 * 0.2 / (0.3 + 0.2 * x) - 50 * 0.2 / (0.7 - 0.2 * x);
        (slope > 0 ? low : high) = x;
    }
    return low;
}

TEST(TinyProbabilities, AreFittedAsAnyOther) {
    for (const double tiny : {1e-12, 1e-80, 1e-160, 1e-165, 1e-300, 1e-310, least_number}) {
        const SharedFeatures features = rare_features(tiny);
        const Counts counts = rare_counts(features);
        const std::vector<detail::LikelihoodRows> rows = detail::likelihood_rows(*features, counts, false);
        const detail::LikelihoodFit fit = detail::maximise_likelihood(rows.at(0));
        EXPECT_NEAR(fit.weights[0], best_weight(), 1e-5) << tiny;
        EXPECT_LE(fit.gap, 1e-5) << tiny;
        const detail::LikelihoodSet set = detail::likelihood_sets(rows, {}).at(0);
        const detail::LikelihoodSet usual =
            detail::likelihood_sets(
                detail::likelihood_rows(*rare_features(1e-12), rare_counts(rare_features(1e-12)), false), {})
                .at(0);
        EXPECT_NEAR(set.allowance, usual.allowance, 1e-3) << tiny;
        EXPECT_NEAR(set.ellipsoid.refined_radius(), usual.ellipsoid.refined_radius(), 1e-2) << tiny;
    }
}

// ln KT - ln(max likelihood), by hand: KT of counts 30, 50, 1 of three successors.
TEST(TinyProbabilities, AreCheckedAgainstTheModelAsAnyOther) {
    const double x = best_weight();
    const double kt = std::lgamma(1.5) - std::lgamma(81 + 1.5) + std::lgamma(30.5) + std::lgamma(50.5) +
                      std::lgamma(1.5) - 3 * std::lgamma(0.5);
    for (const double tiny : {1e-12, 1e-160, 1e-300, 1e-310, least_number}) {
        const ModelFit fit = check_model(*rare_features(tiny), rare_counts(rare_features(tiny)), false);
        const double expected =
            kt - 30 * std::log(0.3 + 0.2 * x) - 50 * std::log(0.7 - 0.2 * x) - std::log(x) - std::log(tiny);
        EXPECT_NEAR(fit.kt, expected, 1e-3) << tiny;
        // One of the alternatives that are averaged, with a weight of 1/16.
        EXPECT_GE(fit.log_evidence, expected - std::log(16.0) - 1e-3) << tiny;
        EXPECT_TRUE(std::isfinite(fit.log_evidence));
        EXPECT_TRUE(fit.contradicted);
        ASSERT_TRUE(fit.worst.has_value());
        EXPECT_EQ(fit.worst->successor, 2) << tiny;
    }
}

TEST(TinyProbabilities, RowsThatAreNoLikelihoodAreRefused) {
    detail::LikelihoodRows rows{2, {0.2, 0.3}, {1}, 1};
    EXPECT_NO_THROW(detail::maximise_likelihood(rows));
    for (const std::vector<double>& bad :
         {std::vector{-0.1, 0.3}, std::vector{0.0, 0.0}, std::vector{1e-200, 0.0}, std::vector{0.1},
          std::vector{std::nan(""), 0.1}, std::vector{0.1, std::numeric_limits<double>::infinity()}}) {
        rows.rows = bad;
        EXPECT_THROW(detail::maximise_likelihood(rows), InvalidArgument);
        EXPECT_THROW(detail::likelihood_sets(std::vector{rows}, {}), InvalidArgument);
    }
    EXPECT_THROW(detail::maximise_likelihood({2, {0.2, 0.3}, {-1}, 1}), InvalidArgument);
    EXPECT_THROW(detail::maximise_likelihood({2, {0.2, 0.3}, {3}, 1}), InvalidArgument);
    EXPECT_THROW(detail::likelihood_sets(std::vector<detail::LikelihoodRows>{{2, {0.2, 0.3}, {1}, 1}},
                                         {.predicted = {std::numeric_limits<double>::infinity()}}),
                 InvalidArgument);
}

TEST(TinyProbabilities, RangesScaleWithTheDirection) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const MixtureModel truth =
            support::random_model(seed, {.shape = {3, 2, 2}, .features = 3, .successors = 2});
        const LearnedMixture learned = support::knowledge_about(truth, seed, 30).mixture();
        Stream random = support::test_stream(seed, 81);
        std::vector<double> direction(3), small(3);
        for (double& x : direction) x = sample_uniform(random);
        const Interval whole = learned.set(0).range(direction);
        for (const int exponent : {-400, -540, -700, -1000, -1060}) {
            for (std::size_t i = 0; i < 3; ++i) small[i] = std::ldexp(direction[i], exponent);
            const Interval part = learned.set(0).range(small);
            EXPECT_GE(part.upper, std::ldexp(whole.upper, exponent) * (1 - 1e-12)) << exponent;
            EXPECT_LE(part.lower, std::ldexp(whole.lower, exponent) * (1 + 1e-12)) << exponent;
            if (exponent < -1000) continue;
            EXPECT_NEAR(std::ldexp(part.upper, -exponent), whole.upper, 1e-9) << exponent;
            EXPECT_NEAR(std::ldexp(part.lower, -exponent), whole.lower, 1e-9) << exponent;
        }
    }
}

/// State 0 has two actions. The second stays; the first leads to the goal with probability `tiny` under one
/// of the base models, and never under the other, on which the sets are centred.
SharedFeatures rare_goal(double tiny) {
    const BaseKernel a{"a", 4, 2, {0, 2, 3, 4, 5}, {0, 1, 0, 1, 1}, {1, tiny, 1, 1, 1}};
    const BaseKernel b{"b", 4, 2, {0, 1, 2, 3, 4}, {0, 0, 1, 1}, {1, 1, 1, 1}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, std::vector{a, b}));
}

// The plan that stays loses the chance of reaching the goal, if the weights are those of the first base
// model, which the sets allow: a bound of exactly 0 would be no proof.
TEST(TinyProbabilities, ALossOfExactlyZeroIsAProof) {
    for (const double tiny : {1e-30, 1e-140, 1e-162, 1e-165, 1e-250, 1e-320, least_number})
        for (const Index horizon : {2, 3, 4}) {
            Matrix weights(horizon, 2);
            weights.col(0).setConstant(0);
            weights.col(1).setConstant(1);
            const MixtureModel truth(rare_goal(tiny), horizon, StartLaw(0), weights);
            const Knowledge knowledge = support::knowledge_about(truth, 1, 10);
            std::vector<double> rewards(at(4 * horizon), 0.0);
            rewards[at(4 * horizon - 1)] = rewards[at(4 * horizon - 2)] = 1;
            const Reward reward(truth.shape(), rewards);
            const Policy stay =
                Policy::deterministic(truth.shape(), std::vector<std::int32_t>(at(2 * horizon), 1));
            const RewardCertificate certificate = certify_reward(knowledge, reward, stay);
            for (const auto& [name, bound] : certificate.methods)
                EXPECT_GT(bound, 0) << name << ", " << tiny << ", horizon " << horizon;
            EXPECT_GT(knowledge.certificate.bound, 0) << tiny;
            for (const auto& [name, bound] : knowledge.certificate.candidates) EXPECT_GT(bound, 0) << name;
        }
}

// Two actions lead on with probability theta_0 t and theta_1 t, t below what squares can hold: which is
// better depends on the weights, so that no certificate may be exactly 0.
TEST(TinyProbabilities, OfSignedFeaturesAreNotTakenToBeKnown) {
    for (const double t : {1e-150, 1e-161, 1e-163, 1e-200, 1e-300, 5e-324}) {
        const SignedFeatures data{
            2, 2, 2, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 1, 1}, {1, 1, t, 0, 1, 1, 0, t, 1, 1, 1, 1}, 1};
        const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
        const ConfidenceSet set(ParameterSet::of(*features),
                                estimate_with(Vector::Zero(1), Matrix::Constant(1, 1, 4.0)), 0.5);
        const LearnedMixture learned(features, 2, StartLaw(0), false, {set}, 0.1);
        const DeviationTable deviations = DeviationTable::of(learned);
        EXPECT_GE(deviations.at(0, 0), 0.14 * t) << t;  // weights differ by 0.25 sqrt(1/2) at most
        EXPECT_FALSE(deviations.zero()) << t;
        EXPECT_GT(certify_reward_free(learned, deviations).bound, 0) << t;
    }
}

// Rows (1, t) and (1, 0) sum to one up to rounding; the laws that they stand for differ by t, and half of the
// sum of absolute differences of what is stored is t/2.
TEST(TinyProbabilities, DeviateByAllThatTheyMayMove) {
    for (const double t : {1e-17, 1e-30, 1e-100, 1e-138}) {
        const BaseKernel a{"a", 2, 2, {0, 2, 3}, {0, 1, 1}, {1, t, 1}},
            b{"b", 2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
        const auto features =
            std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
        const ConfidenceSet set(ParameterSet::of(*features),
                                estimate_with(Vector::Zero(1), Matrix::Constant(1, 1, 0.01)), 1);
        const LearnedMixture learned(features, 2, StartLaw(0), false, {set}, 0.1);
        EXPECT_GE(DeviationTable::of(learned).at(0, 0), 0.5 * t * (1 - 1e-12)) << t;
    }
}

}  // namespace
}  // namespace alidade::tiny_probabilities_test
