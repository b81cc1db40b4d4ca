#include "alidade/certify/robust_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"

namespace alidade::robust_plan_test {
namespace {

/// Every deterministic policy, by counting in base A.
std::vector<Policy> all_policies(const Shape& shape) {
    std::vector<Policy> policies;
    std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon * shape.states), 0);
    while (true) {
        policies.push_back(Policy::deterministic(shape, actions));
        std::size_t i = 0;
        while (i < actions.size() && ++actions[i] == shape.actions) actions[i++] = 0;
        if (i == actions.size()) return policies;
    }
}

/// The least of theta . direction over a set, by the solver, one direction at a time.
double least(const ConfidenceSet& set, const Vector& direction) {
    const Vector opposite = -direction;
    return -set.exact_support({opposite.data(), static_cast<std::size_t>(opposite.size())}).upper;
}

/// The guaranteed value of a policy from its definition, for a start in state 0.
double exact_guarantee(const LearnedMixture& learned, const Reward& reward, const Policy& policy) {
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    Vector next = Vector::Zero(shape.states), now = next;
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        for (State s = 0; s < shape.states; ++s) {
            const Action a = policy.action(h, s);
            double value = reward.at(h, s, a);
            if (h + 1 < shape.horizon) {
                Vector direction = Vector::Zero(features.features());
                const Index pair = shape.pair(s, a);
                for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
                    for (Index i = 0; i < features.features(); ++i)
                        direction[i] += features.phi(e)[static_cast<std::size_t>(i)] *
                                        next[features.targets()[static_cast<std::size_t>(e)]];
                value += least(learned.set(h), direction);
            }
            now[s] = std::max(0.0, value);
        }
        std::swap(now, next);
    }
    return next[0];
}

LearnedMixture tiny_model(std::uint64_t seed, Index features, const Shape& shape) {
    const support::RandomSizes sizes{
        .shape = shape, .features = features, .successors = 2, .concentration = 0.5};
    const MixtureModel truth = support::random_model(seed, sizes);
    const double information = std::pow(10.0, static_cast<double>(seed % 4));
    Stream random = support::test_stream(seed, 60);
    if (seed % 3 == 2) return support::likelihood_model(truth, random, information);
    return support::knowledge_about(truth, seed, information).mixture();
}

TEST(RobustPlan, NoPolicyHasALargerGuaranteeWithTheSolver) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Shape shape{2, 2, 3};
        const LearnedMixture learned = tiny_model(seed, 2 + static_cast<Index>(seed % 3), shape);
        Stream random = support::test_stream(seed, 61);
        const Reward reward = support::random_reward(random, shape);
        const RobustPlan plan = robust_plan(learned, reward, WorstCase::solver);
        double best = 0;
        for (const Policy& policy : all_policies(shape))
            best = std::max(best, exact_guarantee(learned, reward, policy));
        EXPECT_NEAR(plan.price.guaranteed, best, 1e-7) << "seed " << seed;
        EXPECT_NEAR(plan.price.guaranteed, exact_guarantee(learned, reward, plan.policy), 1e-7);
    }
}

// For d = 2 the closed forms are exact, hence monotone; for more they may be beaten, but hardly.
TEST(RobustPlan, NoPolicyHasALargerGuaranteeWithClosedForms) {
    double worst = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Shape shape{2, 2, 3};
        const Index features = 2 + static_cast<Index>(seed % 4);
        const LearnedMixture learned = tiny_model(seed, features, shape);
        Stream random = support::test_stream(seed, 62);
        const Reward reward = seed % 2 == 0 ? support::random_reward(random, shape)
                                            : support::random_sparse_reward(random, shape, 0.4);
        const double guaranteed = robust_plan(learned, reward).price.guaranteed;
        for (const Policy& policy : all_policies(shape)) {
            const double other = price_of_robustness(learned, reward, policy).guaranteed;
            EXPECT_LE(other, guaranteed + (features == 2 ? 1e-12 : 1e-3)) << "seed " << seed;
            worst = std::max(worst, other - guaranteed);
        }
    }
    RecordProperty("largest shortfall", std::to_string(worst));
}

TEST(RobustPlan, TheGuaranteeHoldsForEveryMember) {
    const support::RandomSizes sizes{
        .shape = {5, 3, 5}, .features = 4, .successors = 3, .start_law = true, .concentration = 0.3};
    double closest = 1;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed,
                                                             std::pow(10.0, static_cast<double>(seed % 5)));
        const LearnedMixture& learned = knowledge.mixture();
        Stream random = support::test_stream(seed, 63);
        const Reward reward = seed % 2 == 0 ? support::random_reward(random, sizes.shape)
                                            : support::random_sparse_reward(random, sizes.shape, 0.3);
        const RobustPlan plan = robust_plan(learned, reward);
        for (int k = 0; k < 8; ++k) {
            const MixtureModel truth = support::random_member(learned, random, k % 4 == 3);
            const double value = evaluate(truth, plan.policy, reward).value;
            EXPECT_LE(plan.price.guaranteed, value) << "seed " << seed;
            closest = std::min(closest, value - plan.price.guaranteed);
        }
    }
    RecordProperty("closest", std::to_string(closest));
}

// The truth is no mixture: a share zeta of every row goes to the state that is worth least.
TEST(RobustPlan, TheGuaranteeAllowsForTheMisspecification) {
    const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 3, .successors = 3};
    const Shape& shape = sizes.shape;
    const double zeta = 0.05;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const LearnedMixture exact =
            support::knowledge_about(support::random_model(seed, sizes), seed, 100).mixture();
        const LearnedMixture learned(exact.model().shared_features(), shape.horizon, exact.model().start(),
                                     false, exact.sets(), exact.delta(), zeta);
        Stream random = support::test_stream(seed, 64);
        const Reward reward = support::random_reward(random, shape);
        const RobustPlan plan = robust_plan(learned, reward);
        const MixtureModel mixture = support::random_member(learned, random, false);
        Vector next = Vector::Zero(shape.states), now = next;
        for (Step h = shape.horizon - 1; h >= 0; --h) {
            const double lowest = next.minCoeff();
            for (State s = 0; s < shape.states; ++s) {
                const Action a = plan.policy.action(h, s);
                now[s] = reward.at(h, s, a) +
                         (1 - zeta) * mixture.expect(h, shape.pair(s, a),
                                                     {next.data(), static_cast<std::size_t>(next.size())}) +
                         zeta * lowest;
            }
            std::swap(now, next);
        }
        EXPECT_LE(plan.price.guaranteed, next[0]) << "seed " << seed;
        EXPECT_LE(plan.price.guaranteed, robust_plan(exact, reward).price.guaranteed + 1e-12);
    }
}

TEST(RobustPlan, IsBackwardInductionWhenTheSetsArePoints) {
    const support::RandomSizes sizes{.shape = {5, 3, 4}, .features = 1, .successors = 3};
    const MixtureModel truth = support::random_model(9, sizes);
    const LearnedMixture learned = support::knowledge_about(truth, 9, 0).mixture();
    Stream random = support::test_stream(9, 65);
    const Reward reward = support::random_reward(random, truth.shape());
    const OptimalPlan optimal = backward_induction(truth, reward);
    for (const WorstCase worst : {WorstCase::closed_form, WorstCase::solver}) {
        const RobustPlan plan = robust_plan(learned, reward, worst);
        EXPECT_EQ(plan.policy, optimal.policy);
        EXPECT_LE((plan.guaranteed - optimal.values).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_NEAR(plan.price.guaranteed, optimal.value, 1e-7);
        EXPECT_NEAR(plan.price.cost(), 0, 1e-12);
        EXPECT_NEAR(plan.price.gain(), 0, 1e-12);
    }
}

TEST(RobustPlan, CostsNothingLessThanZeroAndGainsNoLess) {
    const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 4, .successors = 4, .start_law = true};
    double cost = 0, gain = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed,
                                                             std::pow(10.0, static_cast<double>(seed % 4)));
        Stream random = support::test_stream(seed, 66);
        const Reward reward = support::random_sparse_reward(random, sizes.shape, 0.3);
        const RobustPlan plan = robust_plan(knowledge.mixture(), reward);
        const PriceOfRobustness again = price_of_robustness(knowledge.mixture(), reward, plan.policy);
        EXPECT_EQ(again.guaranteed, plan.price.guaranteed);
        EXPECT_EQ(again.optimal_guaranteed, plan.price.optimal_guaranteed);
        EXPECT_EQ(again.model_value, plan.price.model_value);
        // The guarantee is that of the recursion, in which every state has a member of its own; the
        // certificate also knows that they share it.
        const Vector first =
            value_bounds(knowledge.mixture(), reward, plan.policy).policy_lower.row(0).transpose();
        const double mean = knowledge.mixture().model().start().expect({first.data(), at(first.size())});
        EXPECT_EQ(again.guaranteed, std::max(0.0, mean - 1e-9 * static_cast<double>(sizes.shape.horizon)));
        EXPECT_LE(again.guaranteed, certify_reward(knowledge, reward, plan.policy).value.lower);
        EXPECT_GE(plan.price.cost(), -1e-12);
        EXPECT_GE(plan.price.gain(), 0);
        EXPECT_LE(plan.price.guaranteed, plan.price.model_value);
        cost = std::max(cost, plan.price.cost());
        gain = std::max(gain, plan.price.gain());
    }
    EXPECT_GT(cost, 1e-3);
    EXPECT_GT(gain, 1e-3);
}

TEST(RobustPlan, PrefersTheActionThatIsCertain) {
    // State 0 chooses between a coin whose bias is not known and a sure half; state 1 pays 1, state 2
    // nothing, state 3 pays 0.5. In the model the coin is worth a little more.
    const auto kernel = [](double win) {
        // Rows: (state, action), actions "coin" and "sure"; states 1 to 3 absorb.
        return BaseKernel{"",
                          8,
                          4,
                          {0, 2, 3, 4, 5, 6, 7, 8, 9},
                          {1, 2, 3, 1, 1, 2, 2, 3, 3},
                          {win, 1 - win, 1, 1, 1, 1, 1, 1, 1}};
    };
    const std::vector<BaseKernel> kernels{kernel(0.05), kernel(0.95)};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(4, 2, kernels));
    Matrix weights(2, 2);
    weights << 0.4, 0.6, 0.5, 0.5;
    const MixtureModel truth(features, 2, StartLaw(0), weights);
    const Reward reward({4, 2, 2}, {0, 0, 1, 1, 0, 0, 0.5, 0.5});
    const LearnedMixture unsure = support::knowledge_about(truth, 1, 0).mixture();
    const RobustPlan cautious = robust_plan(unsure, reward);
    EXPECT_EQ(backward_induction(unsure.model(), reward).policy.action(0, 0), 0);
    EXPECT_EQ(cautious.policy.action(0, 0), 1);
    EXPECT_NEAR(cautious.price.guaranteed, 0.5, 1e-7);
    EXPECT_NEAR(cautious.price.optimal_guaranteed, 0.05, 1e-7);
    EXPECT_NEAR(cautious.price.cost(), 0.05 * 0.4 + 0.95 * 0.6 - 0.5, 1e-12);
    const LearnedMixture sure = support::knowledge_about(truth, 1, 1e6).mixture();
    EXPECT_EQ(robust_plan(sure, reward).policy.action(0, 0), 0);
}

TEST(RobustPlan, RefusesOtherShapes) {
    const support::RandomSizes sizes{.shape = {3, 2, 3}, .features = 2, .successors = 2};
    const LearnedMixture learned = support::knowledge_about(support::random_model(1, sizes), 1, 1).mixture();
    EXPECT_THROW(robust_plan(learned, Reward::constant({3, 2, 4}, 0)), InvalidArgument);
    EXPECT_THROW(price_of_robustness(learned, Reward::constant(sizes.shape, 0), Policy::uniform({3, 2, 4})),
                 InvalidArgument);
}

TEST(RobustPlanner, PlansLikeTheFunction) {
    const support::RandomSizes sizes{.shape = {5, 3, 4}, .features = 3, .successors = 3};
    const LearnedMixture learned = support::knowledge_about(support::random_model(2, sizes), 2, 10).mixture();
    Stream random = support::test_stream(2, 67);
    const Reward reward = support::random_reward(random, sizes.shape);
    const Plan plan =
        RobustPlanner(std::make_shared<const LearnedMixture>(learned)).plan(learned.model(), reward);
    const RobustPlan direct = robust_plan(learned, reward);
    EXPECT_EQ(plan.policy, direct.policy);
    EXPECT_EQ(plan.claimed_value, direct.price.model_value);
    EXPECT_GE(plan.claimed_accuracy, direct.price.cost());
}

}  // namespace
}  // namespace alidade::robust_plan_test
