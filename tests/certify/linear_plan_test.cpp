#include "alidade/certify/linear_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "alidade/certify/linear_values.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/linear_regression.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/learned_models.hpp"

namespace alidade::linear_plan_test {
namespace {

struct Learned {
    Problem problem;
    Knowledge knowledge;

    const LearnedLinear& linear() const { return knowledge.learned->as_linear("a test"); }
};

Learned learn_uniformly(const char* uri, std::int64_t episodes) {
    Problem problem = make_builtin(uri);
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_system(), 5);
    if (episodes > 0) system.deploy(Policy::uniform(problem.shape()), 0, episodes, counts);
    Knowledge knowledge = alidade::learn(task_of(problem), counts);
    return {std::move(problem), std::move(knowledge)};
}

constexpr const char* uris[] = {"builtin:linear-random?states=6&horizon=4",
                                "builtin:linear-lock?states=6&features=3",
                                "builtin:linear-grid?width=3&height=2"};

// [theory T19] with the range n in place of H: Q* <= Q <= r + P V + 2 n u wherever the event holds.
TEST(LinearPlan, IsOptimisticAndNotTooMuch) {
    for (const char* uri : uris)
        for (const std::int64_t episodes : {0, 100, 10'000}) {
            const Learned it = learn_uniformly(uri, episodes);
            const TransitionModel truth = it.problem.true_system();
            ASSERT_TRUE(it.linear().contains(truth));
            const Shape& shape = it.problem.shape();
            Stream random = support::test_stream(7);
            for (int repeat = 0; repeat < 5; ++repeat) {
                const Reward reward = support::random_reward(random, shape);
                const LinearPlan plan = linear_plan(it.linear(), reward);
                const OptimalPlan best = backward_induction(truth, reward);
                EXPECT_GE(plan.optimistic_value, best.value - 1e-9);
                const double loss = best.value - evaluate(truth, plan.policy, reward).value;
                EXPECT_LE(loss, linear_plan_bound(it.linear()) + 1e-9);
                EXPECT_LE(loss, certify_reward(it.knowledge, reward, plan.policy).loss_bound + 1e-9);
                for (Step h = 0; h + 1 < shape.horizon; ++h) {
                    const Vector next = plan.values.row(h + 1).transpose();
                    for (State s = 0; s < shape.states; ++s) {
                        double most = 0;
                        for (Action a = 0; a < shape.actions; ++a) {
                            const Index pair = shape.pair(s, a);
                            most = std::max(most, reward.at(h, s, a) +
                                                      truth.expect(h, pair, {next.data(), at(next.size())}) +
                                                      2 * static_cast<double>(shape.steps_after(h)) *
                                                          it.linear().bonus(h, pair));
                        }
                        EXPECT_LE(plan.values(h, s), most + 1e-9);
                    }
                }
            }
        }
}

// Of values that are clipped alike the one before it was clipped decides; the reward is never clipped.
TEST(LinearPlan, TakesTheRewardWhileNothingIsKnown) {
    const Learned it = learn_uniformly(uris[0], 0);
    const Shape& shape = it.problem.shape();
    std::vector<double> values(at(shape.pairs()), 0.0);
    for (State s = 0; s < shape.states; ++s) values[at(shape.pair(s, 1))] = 1;
    const LinearPlan plan = linear_plan(it.linear(), Reward(shape, values));
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) EXPECT_EQ(plan.policy.action(h, s), 1);
    EXPECT_NEAR(plan.optimistic_value, 4, 1e-12);
}

// Theorem 3: the algorithm's own certificates are above the recursion that they bound.
TEST(LinearPlan, OwnCertificatesAreAboveTheModelsRecursion) {
    for (const char* uri : uris)
        for (const std::int64_t episodes : {100, 100'000}) {
            const Learned it = learn_uniformly(uri, episodes);
            double model = 0, printed = 0, wang = 0;
            for (const auto& [name, bound] : it.knowledge.certificate.candidates) {
                if (name == "model") model = bound;
                if (name == "printed") printed = bound;
                if (name == "wang") wang = bound;
            }
            EXPECT_GT(model, 0);
            EXPECT_GE(printed, model - 1e-9);
            EXPECT_GE(wang, printed - 1e-9);
            EXPECT_TRUE(it.knowledge.certificate.unproved.empty());
        }
}

TEST(LinearPlan, IsForLinearMdps) {
    const Learned it = learn_uniformly(uris[0], 10);
    EXPECT_THROW(LinearPlanner(nullptr), InvalidArgument);
    const support::RandomSizes sizes{.shape = {5, 2, 4}, .features = 3, .successors = 3};
    EXPECT_THROW(LinearPlanner(support::knowledge_about(support::random_model(1, sizes), 1, 10).learned),
                 InvalidArgument);
    EXPECT_THROW(linear_plan(it.linear(), Reward(sizes.shape, std::vector<double>(10, 0.0))),
                 InvalidArgument);
    const LinearPlanner planner(it.knowledge.learned);
    const Reward reward = it.problem.rewards().front().reward;
    const Plan plan = planner.plan(it.linear().model(), reward);
    EXPECT_EQ(plan.policy, linear_plan(it.linear(), reward).policy);
    EXPECT_FALSE(plan.claimed_value.has_value());
}

}  // namespace
}  // namespace alidade::linear_plan_test
