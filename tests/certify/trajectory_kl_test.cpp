#include "alidade/certify/trajectory_kl.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "alidade/certify/total_variance.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/greedy_plans.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"
#include "support/path_enumeration.hpp"

namespace alidade::trajectory_kl_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const RewardFreeOptions all;  // that apply

DeviationTable deviations_of(const LearnedMixture& learned) {
    const FeatureMap& features = learned.model().features();
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    WidthTable widths(static_cast<Index>(learned.sets().size()), features);
    bracket_widths(features, tangent, learned.sets(), {}, 1, widths);
    return DeviationTable(learned, widths);
}

/// A learned model of a random kind: sets from regression or likelihood, few or many data, like or unlike
/// supports, pooled or not.
LearnedMixture random_learned(std::uint64_t seed) {
    Stream random = support::test_stream(seed, 40);
    const support::RandomSizes sizes{.shape = {2 + sample_index(random, 3), 2, 2 + sample_index(random, 4)},
                                     .features = 2 + sample_index(random, 4),
                                     .successors = 2,
                                     .start_law = seed % 2 == 0,
                                     .homogeneous = seed % 5 == 0,
                                     .concentration = seed % 3 == 0 ? 0.3 : 2.0};
    const auto features = seed % 4 == 1 ? support::ragged_features(random, sizes, 0.3)
                                        : support::random_features(random, sizes);
    const MixtureModel truth = support::random_model(random, features, sizes);
    const double size = std::pow(10.0, static_cast<double>(seed % 6));
    if (sample_index(random, 2) == 0) return support::likelihood_model(truth, random, size);
    return support::knowledge_about(truth, seed, size).mixture();
}

double kl(std::span<const double> p, std::span<const double> q) {
    double sum = 0;
    for (std::size_t j = 0; j < p.size(); ++j)
        if (p[j] > 0) sum += q[j] > 0 ? p[j] * std::log(p[j] / q[j]) : infinity;
    return sum;
}

double chi_square(std::span<const double> p, std::span<const double> q) {
    double sum = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
        if (p[j] == q[j]) continue;
        sum += p[j] > 0 ? (q[j] - p[j]) * (q[j] - p[j]) / p[j] : infinity;
    }
    return sum;
}

// 300 models x 6 truths x all pairs and steps: over 1e4 laws, against the definitions.
TEST(Divergences, AreAboveThoseOfEveryMember) {
    Index finite = 0, checked = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const detail::DivergenceTable kls(learned, Divergence::kl), chis(learned, Divergence::chi_square);
        Stream random = support::test_stream(seed, 41);
        for (int k = 0; k < 6; ++k) {
            const MixtureModel truth = support::random_member(learned, random, k % 3 == 2);
            for (Step h = 0; h + 1 < learned.shape().horizon; ++h)
                for (Index pair = 0; pair < learned.shape().pairs(); ++pair) {
                    const auto p = learned.model().probabilities(h, pair), q = truth.probabilities(h, pair);
                    EXPECT_LE(kl(p, q), kls.at(h, pair) * (1 + 1e-9) + 1e-14) << "seed " << seed;
                    EXPECT_LE(chi_square(p, q), chis.at(h, pair) * (1 + 1e-9) + 1e-14) << "seed " << seed;
                    finite += std::isfinite(kls.at(h, pair));
                    ++checked;
                }
        }
    }
    EXPECT_GT(checked, 10000);
    EXPECT_GT(finite, checked / 2);
}

// Two base models: theta - theta~ = t (1, -1), |t| sqrt(2 precision) <= radius, and all is in closed form.
TEST(Divergences, AreClosedFormsForTwoBaseModels) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const support::RandomSizes sizes{
            .shape = {4, 2, 2}, .features = 2, .successors = 3, .concentration = 2};
        const LearnedMixture learned =
            support::knowledge_about(support::random_model(seed, sizes), seed, 1e4).mixture();
        const detail::DivergenceTable kls(learned, Divergence::kl), chis(learned, Divergence::chi_square);
        const ConfidenceSet& set = learned.set(0);
        const double t = set.refined_radius() / std::sqrt(2 * set.estimate().precision(0, 0));
        const FeatureMap& features = learned.model().features();
        for (Index pair = 0; pair < sizes.shape.pairs(); ++pair) {
            const auto law = learned.model().probabilities(0, pair);
            double chi = 0, bound = 0, farthest[2] = {0, 0}, divergence[2] = {0, 0}, direct[2] = {0, 0};
            for (std::size_t j = 0; j < law.size(); ++j) {
                const auto phi = features.phi(features.first_entry(pair) + static_cast<Index>(j));
                const double x = std::abs(t * (phi[0] - phi[1])) / law[j];
                const double c = std::min(x, 1 - std::min(phi[0], phi[1]) / law[j]);
                chi += law[j] * x * x;
                bound += law[j] * x * x * (-c - std::log1p(-c)) / (c * c);
                for (std::size_t i = 0; i < 2; ++i) {
                    farthest[i] += (phi[i] - law[j]) * (phi[i] - law[j]) / law[j];
                    divergence[i] += law[j] * std::log(law[j] / phi[i]);
                    const double moved = law[j] + (i == 0 ? t : -t) * (phi[0] - phi[1]);
                    direct[i] += moved > 0 ? law[j] * std::log(law[j] / moved) : 0;
                }
            }
            EXPECT_NEAR(chis.at(0, pair), std::min(chi, std::max(farthest[0], farthest[1])), 1e-8 * chi);
            bound = std::min(bound, std::max(divergence[0], divergence[1]));
            EXPECT_NEAR(kls.at(0, pair), bound, 1e-8 * bound);
            // With this much data the bound is nearly the divergence at the end of the interval.
            if (*std::ranges::max_element(direct) < 0.01) {
                EXPECT_LE(kls.at(0, pair), 1.3 * std::max(direct[0], direct[1])) << "seed " << seed;
            }
        }
    }
}

TEST(VariationOfDivergence, IsTheLesserOfBothInequalities) {
    EXPECT_EQ(detail::variation_of_divergence(0), 0);
    EXPECT_DOUBLE_EQ(detail::variation_of_divergence(0.02), 0.1);
    EXPECT_DOUBLE_EQ(detail::variation_of_divergence(3), std::sqrt(1 - std::exp(-3.0)));
    EXPECT_EQ(detail::variation_of_divergence(infinity), 1);
}

// Against the law of whole trajectories, listed one by one: KL(P~^pi || P^pi) <= K_0 at the start.
TEST(TrajectoryKl, BoundsTheDivergenceOfListedTrajectories) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const ErrorRecursion bound =
            detail::divergence_recursion(learned, detail::DivergenceTable(learned, Divergence::kl));
        Stream random = support::test_stream(seed, 42);
        for (int k = 0; k < 3; ++k) {
            const MixtureModel truth = support::random_member(learned, random, k == 2);
            const Policy policy = support::random_stochastic_policy(random, learned.shape());
            std::map<std::pair<std::vector<State>, std::vector<Action>>, double> true_law;
            support::for_each_path(truth, policy, [&](const Episode& path, double probability) {
                true_law[{{path.states.begin(), path.states.end()},
                          {path.actions.begin(), path.actions.end()}}] += probability;
            });
            double divergence = 0, most = 0;
            support::for_each_path(learned.model(), policy, [&](const Episode& path, double probability) {
                const auto found = true_law.find(
                    {{path.states.begin(), path.states.end()}, {path.actions.begin(), path.actions.end()}});
                divergence +=
                    found == true_law.end() ? infinity : probability * std::log(probability / found->second);
            });
            for (const auto& [state, probability] : learned.model().start().atoms())
                if (probability > 0) most += probability * bound.values(0, state);
            EXPECT_LE(divergence, most * (1 + 1e-9) + 1e-13) << "seed " << seed;
        }
    }
}

// By hand: base models (.8, .2) and (.4, .6) from both states, theta~ = (1/2, 1/2), nothing known, H = 3.
// P~ = (.6, .4), k = KL(P~ || (.8, .2)) = .6 ln .75 + .4 ln 2, K_1 = k, K_0 = 2k, tau = .2.
TEST(TrajectoryKl, MatchesAHandCalculation) {
    // Of two actions that are the same: with one there would be nothing to choose.
    const std::vector<std::int64_t> offsets{0, 2, 4, 6, 8}, targets{0, 1, 0, 1, 0, 1, 0, 1};
    const BaseKernel a{"a", 4, 2, offsets, targets, {0.8, 0.2, 0.8, 0.2, 0.8, 0.2, 0.8, 0.2}};
    const BaseKernel b{"b", 4, 2, offsets, targets, {0.4, 0.6, 0.4, 0.6, 0.4, 0.6, 0.4, 0.6}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    const RewardFreeCertificate certificate = certify_reward_free(learned, deviations_of(learned), all);
    ASSERT_EQ(certificate.candidates.size(), 8u);
    EXPECT_EQ(certificate.candidates[3].first, "trajectory-kl");
    EXPECT_EQ(certificate.candidates[4].first, "hybrid");
    EXPECT_EQ(certificate.candidates[5].first, "ltv");
    const double k = 0.6 * std::log(0.75) + 0.4 * std::log(2.0);
    EXPECT_NEAR(k, 0.10465, 1e-5);
    EXPECT_NEAR(certificate.candidates[3].second, 4 * std::sqrt(k), 1e-8);
    // W_1 = min(.2, sqrt(k/2)) = .2, W_0 = min(2 * .2 + .8 * .2, 2 sqrt(k)) = .56.
    EXPECT_NEAR(certificate.candidates[4].second, 1.12, 1e-8);
    // The recursion of ltv by hand at c = 2, eta = 1, G = chi^2 = .2^2 (1/.6 + 1/.4) = 1/6 and cap H-1-h:
    // U_1 = min(.2, 2 G) = .2; P~U = .2, max P U = .2, so
    // U_0 = min(.4, G) + min(2 * .2 + G/4, .2 + .2/(8 * 2 * 2)) = 1/6 + .20625.
    const ErrorRecursion cap{(Matrix(3, 2) << 2, 2, 1, 1, 0, 0).finished(), {0, 0, 0, 0}};
    const detail::DivergenceTable chis(learned, Divergence::chi_square);
    EXPECT_NEAR(chis.at(0, 0), 1.0 / 6, 1e-9);
    const ErrorRecursion ltv = detail::total_variance_recursion(learned, deviations_of(learned), chis, cap,
                                                                {.variance = 2, .growth = 1});
    EXPECT_NEAR(ltv.values(1, 0), 0.2, 1e-9);
    EXPECT_NEAR(ltv.values(0, 0), 1.0 / 6 + 0.20625, 1e-9);
}

// As above, but state 1 is known: from there (1/2, 1/2). Then U_1 = (U, 0), P~U_1 = .6 U and max P U_1 = .8
// U.
TEST(TotalVariance, MatchesAHandCalculationOfBothWaysToGoOn) {
    const BaseKernel a{"a", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.8, 0.2, 0.5, 0.5}};
    const BaseKernel b{"b", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.4, 0.6, 0.5, 0.5}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    const detail::DivergenceTable chis(learned, Divergence::chi_square);
    const ErrorRecursion cap{(Matrix(3, 2) << 2, 2, 1, 1, 0, 0).finished(), {0, 0, 0, 0}};
    const auto first = [&](double c, double eta) {
        return detail::total_variance_recursion(learned, deviations_of(learned), chis, cap,
                                                {.variance = c, .growth = eta})
            .values(0, 0);
    };
    // c = 2, eta = 1: U = min(.2, 2 G) = .2; the set's way: .8 U + .2/(8 * 2 * 2), less than 2 * .12 + G/4.
    const double g = 1.0 / 6;
    EXPECT_NEAR(first(2, 1), g + 0.16 + 0.00625, 1e-9);
    // c = .05, eta = .6: U = .025 * 1.6 G; by growth: 1.6 * .6 U + G/(4 * .6), less than .2/(8 * .05 * 1.6).
    EXPECT_NEAR(first(0.05, 0.6), 0.025 * g + 1.6 * 0.6 * 0.04 * g + g / 2.4, 1e-9);
    // The cut.
    const ErrorRecursion low{(Matrix(3, 2) << 0.1, 0, 0.05, 0, 0, 0).finished(), {0, 0, 0, 0}};
    EXPECT_EQ(detail::total_variance_recursion(learned, deviations_of(learned), chis, low, {}).values(0, 0),
              0.1);
}

// 250 models x 8 truths x 3 rewards x 3 policies: 1.8e4 value errors and 6e3 losses, every candidate.
TEST(RewardFreeCandidates, BoundValueErrorsAndLossesOfEveryMember) {
    std::map<std::string, double> tightest;
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const Shape& shape = learned.shape();
        const RewardFreeCertificate certificate = certify_reward_free(learned, deviations_of(learned), all);
        Stream random = support::test_stream(seed, 43);
        for (int k = 0; k < 8; ++k) {
            const MixtureModel truth = support::random_member(learned, random, k % 4 == 3);
            for (int r = 0; r < 3; ++r) {
                const Reward reward = r == 0 ? support::random_reward(random, shape)
                                             : support::random_sparse_reward(random, shape, 0.4);
                const OptimalPlan plan = backward_induction(learned.model(), reward);
                const double loss =
                    backward_induction(truth, reward).value - evaluate(truth, plan.policy, reward).value;
                double error = 0;
                for (const Policy& policy : {plan.policy, backward_induction(truth, reward).policy,
                                             support::random_stochastic_policy(random, shape)})
                    error = std::max(error, std::abs(evaluate(truth, policy, reward).value -
                                                     evaluate(learned.model(), policy, reward).value));
                for (const auto& [name, bound] : certificate.candidates) {
                    EXPECT_LE(loss, bound) << name << " seed " << seed;
                    if (support::of_greedy_plans(name)) continue;
                    EXPECT_LE(error, bound / 2) << name << " seed " << seed;
                    if (bound > 0) tightest[name] = std::max(tightest[name], 2 * error / bound);
                }
            }
        }
    }
    for (const auto& [name, ratio] : tightest) {
        RecordProperty("tightest " + name, std::to_string(ratio));
        EXPECT_GT(ratio, 0.1) << name;
    }
}

// The recursions themselves, at every (step, state), not at the start alone; and ltv for weights that the
// search would not choose.
TEST(RewardFreeCandidates, BoundTheErrorAtEveryStepAndState) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const Shape& shape = learned.shape();
        const DeviationTable deviations = deviations_of(learned);
        const ErrorRecursion trajectory =
            detail::trajectory_kl_recursion(learned, detail::DivergenceTable(learned, Divergence::kl));
        const ErrorRecursion hybrid = detail::hybrid_recursion(learned, deviations, trajectory);
        const detail::DivergenceTable chis(learned, Divergence::chi_square);
        Stream random = support::test_stream(seed, 44);
        for (int k = 0; k < 8; ++k) {
            const double c = std::pow(10, 4 * sample_uniform(random) - 2), eta = std::pow(10, -c / 20);
            const ErrorRecursion ltv = detail::total_variance_recursion(learned, deviations, chis, hybrid,
                                                                        {.variance = c, .growth = eta});
            const MixtureModel truth = support::random_member(learned, random, k % 4 == 3);
            const Reward reward = k % 2 == 0 ? support::random_reward(random, shape)
                                             : support::random_sparse_reward(random, shape, 0.4);
            const Policy policy = k < 4 ? support::random_stochastic_policy(random, shape)
                                        : backward_induction(truth, reward).policy;
            const Matrix error =
                (evaluate(truth, policy, reward).values - evaluate(learned.model(), policy, reward).values)
                    .cwiseAbs();
            for (Step h = 0; h < shape.horizon; ++h)
                for (State s = 0; s < shape.states; ++s) {
                    EXPECT_LE(error(h, s), trajectory.values(h, s) + 1e-12) << "seed " << seed;
                    EXPECT_LE(error(h, s), hybrid.values(h, s) + 1e-12) << "seed " << seed;
                    const auto range = static_cast<double>(shape.steps_after(h));
                    // Xi_h <= (1+eta)^-h (H-1-h)^2 / (8c).
                    const double rest = range * range / (8 * c * std::pow(1 + eta, static_cast<double>(h)));
                    EXPECT_LE(error(h, s), ltv.values(h, s) + rest + 1e-12) << "seed " << seed;
                }
        }
    }
}

// Base models that differ by 1e-3 to 1e-15 of their probabilities: differences lose their digits, and K is so
// small that its root is not.
TEST(RewardFreeCandidates, SurviveBaseModelsThatNearlyAgree) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        Stream random = support::test_stream(seed, 45);
        const support::RandomSizes sizes{.shape = {4, 2, 4},
                                         .features = 2 + sample_index(random, 3),
                                         .successors = 3,
                                         .concentration = seed % 3 == 0 ? 0.2 : 1.0};
        auto kernels = support::random_kernels(random, sizes);
        const double share = std::pow(10.0, -3.0 * static_cast<double>(1 + seed % 5));
        for (std::size_t i = 1; i < kernels.size(); ++i)
            for (std::size_t e = 0; e < kernels[i].probabilities.size(); ++e)
                kernels[i].probabilities[e] =
                    (1 - share) * kernels[0].probabilities[e] + share * kernels[i].probabilities[e];
        const auto features = std::make_shared<const FeatureMap>(
            FeatureMap::from_base_kernels(sizes.shape.states, sizes.shape.actions, kernels));
        const double size = std::pow(10.0, 2.0 * static_cast<double>(seed % 7));
        const LearnedMixture learned =
            support::knowledge_about(support::random_model(random, features, sizes), seed, size).mixture();
        const RewardFreeCertificate certificate = certify_reward_free(learned, deviations_of(learned), all);
        for (int k = 0; k < 6; ++k) {
            const MixtureModel truth = support::random_member(learned, random, k == 5);
            const Reward reward = support::random_sparse_reward(random, sizes.shape, 0.4);
            const Policy policy = support::random_deterministic_policy(random, sizes.shape);
            const double error = std::abs(evaluate(truth, policy, reward).value -
                                          evaluate(learned.model(), policy, reward).value);
            for (const auto& [name, bound] : certificate.candidates)
                if (!support::of_greedy_plans(name)) {
                    EXPECT_LE(error, bound / 2) << name << " seed " << seed;
                }
        }
    }
}

TEST(Hybrid, IsNeverAboveCouplingOrTrajectoryKl) {
    Index better = 0;
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const auto candidates = certify_reward_free(learned, deviations_of(learned), all).candidates;
        const double coupling = candidates[1].second, trajectory = candidates[3].second;
        EXPECT_LE(candidates[4].second, std::min(coupling, trajectory) + 1e-12) << "seed " << seed;
        better += candidates[4].second < coupling - 1e-6;
    }
    RecordProperty("better than coupling", std::to_string(better));
}

TEST(RewardFreeCandidates, AreExactlyZeroWhenThereIsNothingToLearn) {
    const MixtureModel truth = support::random_model(1, {.shape = {4, 2, 4}, .features = 1, .successors = 2});
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    const RewardFreeCertificate certificate = certify_reward_free(learned, deviations_of(learned), all);
    EXPECT_EQ(certificate.candidates.size(), 8u);
    for (const auto& [name, bound] : certificate.candidates) EXPECT_EQ(bound, 0) << name;
}

TEST(RewardFreeCandidates, HaveDivergencesUnderMisspecificationToo) {
    const LearnedMixture exact = random_learned(2);
    const LearnedMixture off(exact.model().shared_features(), exact.shape().horizon, exact.model().start(),
                             exact.homogeneous(), exact.sets(), exact.delta(), 0.01);
    EXPECT_TRUE(detail::DivergenceTable::applies(exact));
    EXPECT_TRUE(detail::DivergenceTable::applies(off)) << "of mixtures; the rest is added";
    const auto exactly = certify_reward_free(exact, deviations_of(exact), all).candidates,
               less = certify_reward_free(off, deviations_of(off), all).candidates;
    ASSERT_EQ(less.size(), 8u);
    for (std::size_t k = 0; k < 8; ++k) EXPECT_GE(less[k].second, exactly[k].second) << less[k].first;
}

}  // namespace
}  // namespace alidade::trajectory_kl_test
