#include "alidade/certify/advantage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"
#include "support/signed_features.hpp"

namespace alidade::advantage_test {
namespace {

/// At least what evaluating a policy and planning differ by when they mean the same number.
constexpr double rounding = 1e-13;

double method(const RewardCertificate& certificate, std::string_view name) {
    for (const auto& [key, bound] : certificate.methods)
        if (key == name) return bound;
    ADD_FAILURE() << "no method " << name;
    return 0;
}

/// A learned model of a random kind: base models or signed features, sets from regression or likelihood, few
/// or many data, pooled or not.
LearnedMixture random_learned(std::uint64_t seed) {
    Stream random = support::test_stream(seed, 50);
    const Shape shape{2 + sample_index(random, 3), 2 + sample_index(random, 2), 1 + sample_index(random, 5)};
    const double information = std::pow(10.0, static_cast<double>(seed % 7));
    if (seed % 4 == 3) {
        auto features =
            std::make_shared<const FeatureMap>(support::random_signed_features(random, shape, 3, 2, 1.01));
        Matrix weights = Matrix::Zero(shape.horizon, 3);
        weights.col(0).setOnes();
        const MixtureModel truth(features, shape.horizon, StartLaw(0), weights);
        return support::knowledge_about(truth, seed, information).mixture();
    }
    const support::RandomSizes sizes{.shape = shape,
                                     .features = 2 + sample_index(random, 4),
                                     .successors = 2,
                                     .start_law = seed % 2 == 0,
                                     .homogeneous = seed % 5 == 0,
                                     .concentration = seed % 3 == 0 ? 0.3 : 2.0};
    const MixtureModel truth = support::random_model(random, sizes);
    if (sample_index(random, 2) == 0) return support::likelihood_model(truth, random, information);
    return support::knowledge_about(truth, seed, information).mixture();
}

std::vector<Policy> policies_for(const LearnedMixture& learned, const MixtureModel& truth,
                                 const Reward& reward, Stream& random) {
    return {backward_induction(learned.model(), reward).policy, backward_induction(truth, reward).policy,
            support::random_deterministic_policy(random, learned.shape()),
            support::random_stochastic_policy(random, learned.shape())};
}

// 400 models x 3 rewards x 4 policies x 5 truths: 2.4e4 losses, each against three bounds; the value too.
TEST(Advantage, BoundsTheLossAndTheValueForEveryMember) {
    double tightest = 0, value_tightest = 0;
    Index zeros = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const Shape& shape = learned.shape();
        const DeviationTable deviations = DeviationTable::of(learned);
        Stream random = support::test_stream(seed, 51);
        std::vector<MixtureModel> truths;
        for (int k = 0; k < 5; ++k) truths.push_back(support::random_member(learned, random, k % 3 == 2));
        for (int r = 0; r < 3; ++r) {
            const Reward reward = r == 0 ? support::random_reward(random, shape)
                                         : support::random_sparse_reward(random, shape, 0.4);
            for (const Policy& policy : policies_for(learned, truths[0], reward, random)) {
                const ValueBounds bounds = value_bounds(learned, reward, policy);
                const detail::AdvantageBounds result =
                    detail::advantage_bounds(learned, deviations, reward, policy, bounds);
                EXPECT_LE(result.advantage, result.gap + 1e-12) << "seed " << seed;
                zeros += result.advantage == 0;
                for (const MixtureModel& truth : truths) {
                    const double value = evaluate(truth, policy, reward).value;
                    const double loss = backward_induction(truth, reward).value - value;
                    EXPECT_LE(loss, result.advantage + rounding) << "seed " << seed;
                    EXPECT_LE(loss, result.gap + rounding) << "seed " << seed;
                    EXPECT_GE(value, result.value.lower) << "seed " << seed;
                    EXPECT_LE(value, result.value.upper + rounding) << "seed " << seed;
                    if (result.advantage > 1e-6) tightest = std::max(tightest, loss / result.advantage);
                    const double middle = 0.5 * (result.value.lower + result.value.upper);
                    const double radius = result.value.upper - middle;
                    if (radius > 1e-6)
                        value_tightest = std::max(value_tightest, std::abs(value - middle) / radius);
                }
            }
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    RecordProperty("value tightest", std::to_string(value_tightest));
    RecordProperty("exactly zero", std::to_string(zeros));
    EXPECT_GT(tightest, 0.5);
    EXPECT_GT(zeros, 100);
}

// The truth is no mixture: every row is moved by up to zeta in total variation, also to states that no base
// model leads to. 160 models x 3 truths x 2 rewards x 4 policies.
TEST(Advantage, HoldsForTruthsThatAreNoMixtures) {
    for (std::uint64_t seed = 0; seed < 160; ++seed) {
        const LearnedMixture exact = random_learned(seed);
        const Shape& shape = exact.shape();
        Stream random = support::test_stream(seed, 52);
        const double zeta = std::pow(10.0, -1 - static_cast<double>(seed % 3));
        const LearnedMixture learned(exact.model().shared_features(), shape.horizon, exact.model().start(),
                                     exact.homogeneous(), exact.sets(), exact.delta(), zeta);
        const DeviationTable deviations = DeviationTable::of(learned);
        for (int k = 0; k < 3; ++k) {
            const MixtureModel mixture = support::random_member(learned, random, k == 2);
            // One base model a step, and weights that choose it.
            std::vector<BaseKernel> kernels;
            for (Step h = 0; h < shape.horizon; ++h) {
                BaseKernel kernel{std::to_string(h), shape.pairs(), shape.states, {0}, {}, {}};
                for (Index pair = 0; pair < shape.pairs(); ++pair) {
                    std::vector<double> row(static_cast<std::size_t>(shape.states), 0.0);
                    const auto law = mixture.probabilities(h, pair);
                    const auto targets = mixture.features().targets(pair);
                    for (std::size_t j = 0; j < law.size(); ++j)
                        row[static_cast<std::size_t>(targets[j])] = (1 - zeta) * law[j];
                    row[static_cast<std::size_t>(sample_index(random, shape.states))] += zeta;
                    for (State s = 0; s < shape.states; ++s) {
                        kernel.targets.push_back(s);
                        kernel.probabilities.push_back(row[static_cast<std::size_t>(s)]);
                    }
                    kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
                }
                kernels.push_back(std::move(kernel));
            }
            const auto features = std::make_shared<const FeatureMap>(
                FeatureMap::from_base_kernels(shape.states, shape.actions, kernels));
            const MixtureModel truth(features, shape.horizon, learned.model().start(),
                                     Matrix::Identity(shape.horizon, shape.horizon));
            for (int r = 0; r < 2; ++r) {
                const Reward reward = r == 0 ? support::random_reward(random, shape)
                                             : support::random_sparse_reward(random, shape, 0.4);
                for (const Policy& policy : policies_for(learned, truth, reward, random)) {
                    const detail::AdvantageBounds result = detail::advantage_bounds(
                        learned, deviations, reward, policy, value_bounds(learned, reward, policy));
                    const double value = evaluate(truth, policy, reward).value;
                    const double loss = backward_induction(truth, reward).value - value;
                    EXPECT_LE(loss, result.advantage + rounding) << "seed " << seed;
                    EXPECT_LE(loss, result.gap + rounding) << "seed " << seed;
                    const RewardCertificate certificate = certify_reward(learned, deviations, reward, policy);
                    for (const Interval& interval : {result.value, certificate.value}) {
                        EXPECT_GE(value, interval.lower) << "seed " << seed;
                        EXPECT_LE(value, interval.upper + rounding) << "seed " << seed;
                    }
                }
            }
        }
    }
}

TEST(Advantage, IsNeverAboveThePlainBoundAndNearItsSquareWithManyData) {
    double plain = 0, advantage = 0;
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        Stream random = support::test_stream(seed, 53);
        const Reward reward = support::random_reward(random, learned.shape());
        const RewardCertificate certificate =
            certify_reward(learned, reward, backward_induction(learned.model(), reward).policy);
        EXPECT_LE(method(certificate, "advantage"), method(certificate, "plain") + 1e-12) << "seed " << seed;
        EXPECT_LE(method(certificate, "gap"), method(certificate, "plain") + 1e-12) << "seed " << seed;
        EXPECT_LE(certificate.loss_bound, method(certificate, "advantage"));
        if (seed % 7 < 5) continue;
        plain += method(certificate, "plain");
        advantage += method(certificate, "advantage");
    }
    EXPECT_LT(advantage, 0.05 * plain);
}

/// A lock of two actions: 0 leads to state 1 with theta . (.8, .6), action 1 with theta . (.3, .1).
SharedFeatures two_doors() {
    const BaseKernel a{"a", 4, 2, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 1, 1}, {0.2, 0.8, 0.7, 0.3, 1, 1}};
    const BaseKernel b{"b", 4, 2, {0, 2, 4, 5, 6}, {0, 1, 0, 1, 1, 1}, {0.4, 0.6, 0.9, 0.1, 1, 1}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, std::vector{a, b}));
}

// Nothing is known, yet action 0 is better whatever the weights: only state 1 pays, once, at the end. Its
// advantage over action 1 is at least .5, so the plan is optimal, and V_up - V_lo = .2 cannot say so.
TEST(Advantage, ProvesAPlanExactlyOptimal) {
    const MixtureModel truth(two_doors(), 2, StartLaw(0), Matrix::Constant(2, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    const Reward reward(truth.shape(), {0, 0, 0, 0, 0, 0, 1, 1});
    const Policy best = Policy::deterministic(truth.shape(), {0, 0, 0, 0});
    const RewardCertificate certificate = certify_reward(learned, reward, best);
    EXPECT_NEAR(method(certificate, "plain"), 0.2, 1e-8);
    EXPECT_EQ(method(certificate, "advantage"), 0);
    EXPECT_EQ(method(certificate, "gap"), 0);
    EXPECT_EQ(certificate.loss_bound, 0);
    EXPECT_FALSE(certificate.vacuous);
    // The other action: A = theta . (.5, .5) = .5 exactly, for all members. Plain: .8 - .1.
    const RewardCertificate other =
        certify_reward(learned, reward, Policy::deterministic(truth.shape(), {1, 0, 0, 0}));
    EXPECT_NEAR(method(other, "plain"), 0.7, 1e-8);
    EXPECT_NEAR(method(other, "advantage"), 0.5, 1e-8);
    // Half of each: 1/4.
    const Policy mixed = Policy::stochastic(truth.shape(), {0.5, 0.5, 1, 0, 1, 0, 1, 0});
    EXPECT_NEAR(method(certify_reward(learned, reward, mixed), "advantage"), 0.25, 1e-8);
}

// Errors that both actions share cancel over steps, too: the first action goes where the second one does, a
// step earlier known to be no worse; what is unknown comes later and is common.
TEST(Advantage, CancelsWhatIsUnknownLater) {
    // State 0: action 0 pays .1 more and both lead to state 1, by the same law; state 1 leads to state 2 with
    // unknown probability .2 or .9; state 2 pays.
    const std::vector<std::int64_t> offsets{0, 1, 2, 4, 6, 7, 8}, targets{1, 1, 1, 2, 1, 2, 2, 2};
    const BaseKernel a{"a", 6, 3, offsets, targets, {1, 1, 0.8, 0.2, 0.8, 0.2, 1, 1}};
    const BaseKernel b{"b", 6, 3, offsets, targets, {1, 1, 0.1, 0.9, 0.1, 0.9, 1, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    std::vector<double> rewards(18, 0.0);
    rewards[0] = 0.1;
    rewards[16] = rewards[17] = 1;
    const Reward reward(truth.shape(), rewards);
    const Policy policy = Policy::deterministic(truth.shape(), std::vector<std::int32_t>(9, 0));
    const RewardCertificate certificate = certify_reward(learned, reward, policy);
    EXPECT_NEAR(method(certificate, "plain"), 0.7, 1e-8);
    EXPECT_EQ(certificate.loss_bound, 0);
    // The other action first: a loss of .1, and no more.
    std::vector<std::int32_t> actions(9, 0);
    actions[0] = 1;
    EXPECT_NEAR(certify_reward(learned, reward, Policy::deterministic(truth.shape(), actions)).loss_bound,
                0.1, 1e-8);
}

TEST(Advantage, IsExactForOneStep) {
    const MixtureModel truth = support::random_model(4, {.shape = {3, 3, 1}, .features = 2, .successors = 2});
    const LearnedMixture learned = support::knowledge_about(truth, 4, 0).mixture();
    Stream random = support::test_stream(4, 54);
    const Reward reward = support::random_reward(random, truth.shape());
    EXPECT_EQ(certify_reward(learned, reward, backward_induction(truth, reward).policy).loss_bound, 0);
    const Policy policy = support::random_deterministic_policy(random, truth.shape());
    const double loss = backward_induction(truth, reward).value - evaluate(truth, policy, reward).value;
    EXPECT_NEAR(certify_reward(learned, reward, policy).loss_bound, loss, 1e-8);
}

TEST(Deviation, ByEigenvaluesIsAboveTheExactOneAndNotFar) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned = random_learned(seed);
        const FeatureMap& features = learned.model().features();
        const TangentFeatures tangent(features, ParameterSet::of(features).space());
        WidthTable widths(static_cast<Index>(learned.sets().size()), features);
        bracket_widths(features, tangent, learned.sets(), {}, 1, widths);
        const DeviationTable exact(learned, widths), quick = DeviationTable::of(learned);
        for (Step h = 0; h + 1 < learned.shape().horizon; ++h)
            for (Index pair = 0; pair < learned.shape().pairs(); ++pair) {
                EXPECT_GE(quick.at(h, pair), exact.at(h, pair) - 1e-12) << "seed " << seed;
                EXPECT_LE(quick.at(h, pair), 1.5 * exact.at(h, pair) + 1e-12) << "seed " << seed;
            }
    }
}

/// The model among many other states that nothing leads to: its state s becomes `places[s]`.
MixtureModel spread_out(const MixtureModel& model, Index states, const std::vector<State>& places) {
    const FeatureMap& features = model.features();
    const Index actions = model.shape().actions;
    std::vector<BaseKernel> kernels;
    for (Index i = 0; i < features.features(); ++i) {
        const BaseKernel own = features.base_kernel(i);
        BaseKernel kernel{own.name, states * actions, states, {0}, {}, {}};
        for (State s = 0; s < states; ++s)
            for (Action a = 0; a < actions; ++a) {
                const auto place = std::ranges::find(places, s);
                if (place == places.end()) {
                    kernel.targets.push_back(s);
                    kernel.probabilities.push_back(1);
                } else {
                    const Index row = (place - places.begin()) * actions + a;
                    for (std::int64_t e = own.offsets[at(row)]; e < own.offsets[at(row + 1)]; ++e) {
                        kernel.targets.push_back(places[at(own.targets[at(e)])]);
                        kernel.probabilities.push_back(own.probabilities[at(e)]);
                    }
                }
                kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
            }
        kernels.push_back(std::move(kernel));
    }
    auto spread = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states, actions, kernels));
    return {spread, model.shape().horizon, StartLaw(places[0]), model.weights()};
}

// States are taken a block of 1024 at a time, and what is shared by all of them in their order.
TEST(Advantage, DoesNotDependOnWhereStatesAre) {
    const std::vector<State> places{700, 1023, 1024, 2500};
    double most = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        Stream random = support::test_stream(seed, 55);
        const MixtureModel truth = support::random_model(
            random, {.shape = {4, 2, 4}, .features = 3, .successors = 3, .concentration = 1.0});
        const MixtureModel spread = spread_out(truth, 2600, places);
        const Reward reward = support::random_reward(random, truth.shape());
        std::vector<double> rewards(at(4 * 2600 * 2), 0.0);
        for (Step h = 0; h < 4; ++h)
            for (State s = 0; s < 4; ++s)
                for (Action a = 0; a < 2; ++a)
                    rewards[at((h * 2600 + places[at(s)]) * 2 + a)] = reward.at(h, s, a);
        const Reward spread_reward(spread.shape(), rewards);
        const LearnedMixture learned = support::knowledge_about(truth, seed, 1).mixture();
        const LearnedMixture spread_learned = support::knowledge_about(spread, seed, 1).mixture();
        const std::array policies{std::pair(backward_induction(truth, reward).policy,
                                            backward_induction(spread, spread_reward).policy),
                                  std::pair(Policy::uniform(truth.shape()), Policy::uniform(spread.shape()))};
        for (const auto& [policy, spread_policy] : policies) {
            const RewardCertificate near = certify_reward(learned, reward, policy);
            most = std::max(most, near.loss_bound);
            for (const int threads : {1, 2}) {
                const RewardCertificate far =
                    certify_reward(spread_learned, spread_reward, spread_policy, threads);
                for (const auto& [name, bound] : near.methods)
                    EXPECT_NEAR(method(far, name), bound, 1e-8) << name;
                EXPECT_NEAR(far.value.lower, near.value.lower, 1e-8);
                EXPECT_NEAR(far.value.upper, near.value.upper, 1e-8);
            }
        }
    }
    EXPECT_GT(most, 0.1);
}

}  // namespace
}  // namespace alidade::advantage_test
