#include "support/initial_step.hpp"

#include <gtest/gtest.h>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/random_models.hpp"
#include "support/small_problem.hpp"

namespace alidade::initial_step_test {
namespace {

using support::with_initial_step;

Problem random_problem(std::uint64_t seed, bool start_law, bool homogeneous) {
    const MixtureModel model =
        support::random_model(seed, {.shape = {5, 3, 4}, .start_law = start_law, .homogeneous = homogeneous});
    ProblemDescription parts;
    parts.name = "random";
    parts.features = model.shared_features();
    parts.horizon = 4;
    parts.start = model.start();
    parts.homogeneous = homogeneous;
    parts.truth = model.weights();
    return Problem(std::move(parts));
}

// T24 [theory §4]: a known start as a transition from s_0.
TEST(InitialStep, APointMassGivesTheValuesOfTheFixedStartExactly) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Problem problem = random_problem(seed, false, false);
        const Problem extended = with_initial_step(problem);
        Stream random = support::test_stream(seed, 1);
        for (int i = 0; i < 5; ++i) {
            const Reward reward = support::random_reward(random, problem.shape());
            const OptimalPlan plan = backward_induction(problem.true_model(), reward);
            EXPECT_EQ(backward_induction(extended.true_model(), with_initial_step(reward)).value, plan.value);
            for (const Policy& policy :
                 {plan.policy, support::random_stochastic_policy(random, problem.shape())}) {
                EXPECT_EQ(
                    evaluate(extended.true_model(), with_initial_step(policy), with_initial_step(reward))
                        .value,
                    evaluate(problem.true_model(), policy, reward).value);
            }
        }
    }
}

TEST(InitialStep, AStartLawGivesTheExpectedValue) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Problem problem = random_problem(seed, true, seed % 2 == 1);
        const Problem extended = with_initial_step(problem);
        ASSERT_GT(problem.start().atoms().size(), 1u);
        Stream random = support::test_stream(seed, 1);
        const Reward reward = support::random_reward(random, problem.shape());
        EXPECT_NEAR(backward_induction(extended.true_model(), with_initial_step(reward)).value,
                    backward_induction(problem.true_model(), reward).value, 1e-13);
    }
}

TEST(InitialStep, NothingIsToBeLearnedAtTheNewState) {
    const Problem extended = with_initial_step(random_problem(3, true, false));
    const FeatureMap& map = extended.features();
    EXPECT_EQ(extended.shape(), (Shape{6, 3, 5}));
    EXPECT_EQ(extended.start(), StartLaw(5));
    for (Action a = 0; a < 3; ++a)
        for (Index e = map.first_entry(map.pair(5, a)); e < map.first_entry(map.pair(5, a) + 1); ++e)
            for (const double p : map.phi(e)) EXPECT_EQ(p, map.phi(e)[0]);
    for (const std::int32_t target : map.targets()) EXPECT_NE(target, 5);
}

TEST(InitialStep, KeepsEverythingElse) {
    ProblemDescription parts = make_builtin("builtin:inventory").description();
    parts.misspecification = 0.01;
    const Problem problem(parts), extended = with_initial_step(problem);
    EXPECT_EQ(extended.misspecification(), 0.01);
    EXPECT_EQ(extended.state_name(3), "stock 3");
    EXPECT_EQ(extended.state_name(21), "before the start");
    EXPECT_EQ(extended.rewards().size(), 3u);
    EXPECT_EQ(extended.rewards()[0].reward.at(1, 4, 2), problem.rewards()[0].reward.at(0, 4, 2));
    EXPECT_EQ(extended.rewards()[0].reward.at(0, 4, 2), 0);
    EXPECT_EQ(extended.rewards()[0].reward.at(3, 21, 2), 0);
    EXPECT_EQ(extended.features().names(), problem.features().names());
}

TEST(InitialStep, SignedFeaturesGetTheStartLawWhateverTheWeights) {
    ProblemDescription parts = testing::signed_description();
    parts.homogeneous = false;
    parts.horizon = 3;
    parts.start = StartLaw({{0, 0.25}, {1, 0.75}});
    for (const double tilt : {-0.7, 0.0, 0.7}) {
        parts.truth = Matrix(3, 2);
        for (Index h = 0; h < 3; ++h) parts.truth->row(h) << 1, tilt;
        const MixtureModel model = with_initial_step(Problem(parts)).true_model();
        const auto law = model.probabilities(0, 2);
        ASSERT_EQ(law.size(), 2u);
        EXPECT_NEAR(law[0], 0.25, 1e-15);
        EXPECT_NEAR(law[1], 0.75, 1e-15);
    }
}

}  // namespace
}  // namespace alidade::initial_step_test
