#include "alidade/certify/reward_free.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "alidade/certify/deviation.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

namespace alidade::reward_free_test {
namespace {

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 4, .successors = 4, .start_law = true};

double total_variation(const MixtureModel& a, const MixtureModel& b, Step h, Index pair) {
    double sum = 0;
    for (std::size_t j = 0; j < a.probabilities(h, pair).size(); ++j)
        sum += std::abs(a.probabilities(h, pair)[j] - b.probabilities(h, pair)[j]);
    return sum / 2;
}

TEST(Deviation, BoundsTheTotalVariationOfEveryMember) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 4));
        const FeatureMap& features = knowledge.mixture().model().features();
        const TangentFeatures tangent(features, ParameterSet::of(features).space());
        WidthTable widths(static_cast<Index>(knowledge.mixture().sets().size()), features);
        bracket_widths(features, tangent, knowledge.mixture().sets(), {}, 1, widths);
        const DeviationTable deviations(knowledge.mixture(), widths);
        for (std::uint64_t k = 0; k < 10; ++k) {
            const MixtureModel truth = support::adversarial_truth(knowledge, 100 * seed + k);
            for (Step h = 0; h + 1 < sizes.shape.horizon; ++h)
                for (Index pair = 0; pair < sizes.shape.pairs(); ++pair)
                    EXPECT_LE(total_variation(truth, knowledge.mixture().model(), h, pair),
                              deviations.at(h, pair) + 1e-12)
                        << "seed " << seed;
        }
    }
}

// T9 [theory §4]: every policy's value error is within half the certificate, every plan's loss within all of
// it.
TEST(RewardFreeCertificate, BoundsValueErrorsAndLossesOfEveryMember) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        const MixtureModel& model = knowledge.mixture().model();
        for (std::uint64_t k = 0; k < 10; ++k) {
            const MixtureModel truth = support::adversarial_truth(knowledge, 100 * seed + k);
            Stream random = support::test_stream(seed, 200 + k);
            const Reward reward = support::random_reward(random, sizes.shape);
            const OptimalPlan plan = backward_induction(model, reward);
            const double loss =
                backward_induction(truth, reward).value - evaluate(truth, plan.policy, reward).value;
            for (const auto& [name, bound] : knowledge.certificate.candidates) {
                EXPECT_LE(loss, bound) << name << " seed " << seed;
                const Policy policy = support::random_stochastic_policy(random, sizes.shape);
                EXPECT_LE(
                    std::abs(evaluate(truth, policy, reward).value - evaluate(model, policy, reward).value),
                    bound / 2)
                    << name << " seed " << seed;
            }
        }
    }
}

TEST(RewardFreeCertificate, CouplingIsNeverLooserThanTheModelRecursion) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        EXPECT_LE(knowledge.certificate.candidates[1].second,
                  knowledge.certificate.candidates[0].second + 1e-12)
            << "seed " << seed;
    }
}

TEST(RewardFreeCertificate, IsTheSumOfItsContributions) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Knowledge knowledge =
            support::knowledge_about(support::random_model(seed, sizes), seed, std::pow(10.0, seed % 5));
        double sum = 0;
        for (const Contribution& part : knowledge.certificate.contributions) sum += part.amount;
        // Of coupling, whichever candidate is the least.
        EXPECT_EQ(knowledge.certificate.candidates[1].first, "coupling");
        EXPECT_NEAR(sum, knowledge.certificate.candidates[1].second, 1e-8) << "seed " << seed;
    }
}

TEST(RewardFreeCertificate, IsExactlyZeroWhenThereIsNothingToLearn) {
    const Knowledge one_step = support::knowledge_about(
        support::random_model(1, {.shape = {4, 2, 1}, .features = 3, .successors = 2}), 1, 0);
    const Knowledge one_model = support::knowledge_about(
        support::random_model(1, {.shape = {4, 2, 4}, .features = 1, .successors = 2}), 1, 0);
    for (const Knowledge& knowledge : {one_step, one_model}) {
        EXPECT_EQ(knowledge.certificate.bound, 0);
        EXPECT_FALSE(knowledge.certificate.vacuous);
    }
    // Base models that agree everywhere.
    Stream random = support::test_stream(5);
    auto kernels = support::random_kernels(random, {.shape = {4, 2, 4}, .features = 3, .successors = 3});
    kernels[1] = kernels[2] = kernels[0];
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(4, 2, kernels));
    const MixtureModel truth(features, 4, StartLaw(0), Matrix::Constant(4, 3, 1.0 / 3));
    EXPECT_EQ(support::knowledge_about(truth, 1, 0).certificate.bound, 0);
}

TEST(RewardFreeCertificate, SaysVacuousBeforeAnyData) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(2, sizes), 2, 0);
    EXPECT_TRUE(knowledge.certificate.vacuous);
    EXPECT_EQ(knowledge.certificate.bound, 5);
    EXPECT_EQ(knowledge.certificate.failure_probability, 0.1);
}

// By hand: two states, P~ = stay with 3/4; tau = 1/4 at both. Steps after: 1, 0 at H = 2.
TEST(RewardFreeCertificate, MatchesAHandCalculationOfTheRecursions) {
    // Two base models, the same for two actions: (1, 0) and (1/2, 1/2) from both states; weights (1/2, 1/2).
    const BaseKernel a{"a", 4, 2, {0, 1, 2, 3, 4}, {0, 0, 0, 0}, {1, 1, 1, 1}};
    const BaseKernel b{"b", 4, 2, {0, 2, 4, 6, 8}, {0, 1, 0, 1, 0, 1, 0, 1}, std::vector<double>(8, 0.5)};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    // No information: the cap max_i TV(P_i, P~) = 1/4 decides, radius * width is larger.
    const Knowledge knowledge = support::knowledge_about(truth, 1, 0);
    // Model: E_1 = 1 * 1/4, E_0 = 2 * 1/4 + 1/4 = 3/4. Coupling: W_1 = 1/4, W_0 = 2/4 + 3/4 * 1/4 = 11/16.
    EXPECT_NEAR(knowledge.certificate.candidates[0].second, 1.5, 1e-8);
    EXPECT_NEAR(knowledge.certificate.candidates[1].second, 1.375, 1e-8);
    // Span: all rows of the model are equal, so its values differ by one reward: 1/4 + 1/4.
    EXPECT_NEAR(knowledge.certificate.candidates[2].second, 1.0, 1e-8);
    EXPECT_EQ(knowledge.certificate.method, "span");
    // What one action is off by the other is, too, from wherever: the best policy and the plan lose alike.
    const RewardFreeCertificate all =
        certify_reward_free(*knowledge.learned, DeviationTable::of(*knowledge.learned));
    EXPECT_EQ(all.method, "two-chain");
    EXPECT_NEAR(all.bound, 0, 1e-8);
    EXPECT_GT(all.any_plan, 0.3);
}

// The loss of the only plan there is.
TEST(RewardFreeCertificate, IsExactlyZeroWithOneAction) {
    const Knowledge knowledge = support::knowledge_about(
        support::random_model(3, {.shape = {4, 1, 4}, .features = 3, .successors = 2}), 1, 0);
    const RewardFreeCertificate all =
        certify_reward_free(*knowledge.learned, DeviationTable::of(*knowledge.learned));
    EXPECT_EQ(all.method, "one-action");
    EXPECT_EQ(all.bound, 0);
    EXPECT_EQ(all.any_plan, 0);
    EXPECT_FALSE(all.vacuous);
    // Who asks for an argument by name gets that one.
    EXPECT_GT(knowledge.certificate.bound, 0);
}

// T13 [theory §2.2]: H = 5; g pays 1, b absorbs and pays 0; P~ keeps g for certain, P with .4. The value
// error is 3.3504, while the clipped expectation of the paper's proof [paper, L451] gives 3.248: not a bound.
TEST(RewardFreeCertificate, HandlesTheCounterexampleToTheSimulationLemmaOfThePaper) {
    const BaseKernel stay{"stay", 2, 2, {0, 1, 2}, {0, 1}, {1, 1}};
    const BaseKernel leave{"leave", 2, 2, {0, 1, 2}, {1, 1}, {1, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{stay, leave}));
    const Matrix known = (Matrix(5, 2) << 1, 0, 1, 0, 1, 0, 1, 0, 1, 0).finished();
    const MixtureModel model(features, 5, StartLaw(0), known);
    const Matrix leaving = (Matrix(5, 2) << 0.4, 0.6, 0.4, 0.6, 0.4, 0.6, 0.4, 0.6, 0.4, 0.6).finished();
    const MixtureModel truth(features, 5, StartLaw(0), leaving);
    const Reward reward(model.shape(), {1, 0});
    const Policy policy = Policy::uniform(model.shape());
    const double error = evaluate(model, policy, reward).value - evaluate(truth, policy, reward).value;
    EXPECT_NEAR(error, 3.3504, 1e-12);
    // The paper's: min(H, sum of e_h = .6 (5-h) while in g), expected under P.
    double printed = 0, probability = 1, sum = 0;
    for (int h = 1; h <= 5; ++h) {
        sum += 0.6 * (5 - h);
        const double ends = h < 5 ? 0.6 * probability : probability;
        printed += ends * std::min(5.0, sum);
        probability *= 0.4;
    }
    EXPECT_NEAR(printed, 3.248, 1e-12);
    EXPECT_LT(printed, error);
    // Ours, with the true deviation .6 at g: the coupling recursion is exact here, the other one above it.
    const LearnedMixture learned = support::knowledge_about(model, 1, 10).mixture();
    const DeviationTable deviations(2, false, {0.6, 0, 0.6, 0, 0.6, 0, 0.6, 0});
    EXPECT_NEAR(coupling_recursion(learned, deviations).values(0, 0), 3.3504, 1e-12);
    EXPECT_GE(model_recursion(learned, deviations).values(0, 0), 3.3504);
}

}  // namespace
}  // namespace alidade::reward_free_test
