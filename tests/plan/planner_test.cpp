#include "alidade/plan/planner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/plan/lookahead.hpp"
#include "support/random_models.hpp"

namespace alidade {
namespace {

/// A line of `length` states: action 1 moves right (and stays at the end), action 0 stays.
MixtureModel line(Index length, Index horizon) {
    BaseKernel kernel{.name = "line", .rows = 2 * length, .columns = length, .offsets = {0}};
    for (Index s = 0; s < length; ++s) {
        for (const Index target : {s, std::min(s + 1, length - 1)}) {
            kernel.targets.push_back(target);
            kernel.probabilities.push_back(1);
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
    }
    auto features = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(length, 2, std::vector<BaseKernel>{kernel}));
    return MixtureModel(features, horizon, StartLaw(State{0}), Matrix::Ones(1, 1));
}

/// 0.1 for staying in state 0, 1 for being in the last state.
Reward line_reward(Index length, Index horizon) {
    std::vector<double> values(static_cast<std::size_t>(2 * length), 0.0);
    values.front() = 0.1;
    values[values.size() - 2] = values.back() = 1;
    return Reward({length, 2, horizon}, values);
}

TEST(Planners, NoneBeatsTheOptimumAndClaimsHold) {
    for (const PlannerEntry& entry : planners()) {
        const auto planner = entry.make();
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            Stream random = support::test_stream(seed);
            const Shape shape{4 + static_cast<Index>(seed % 11), 3, 1 + static_cast<Index>(seed % 7)};
            const MixtureModel model =
                support::random_model(random, {.shape = shape, .start_law = seed % 2 == 0});
            const Reward reward = support::random_sparse_reward(random, shape);
            const Plan plan = planner->plan(model, reward);
            const double value = evaluate(model, plan.policy, reward).value;
            const double optimal = backward_induction(model, reward).value;
            EXPECT_LE(value, optimal + 1e-12) << entry.name << ", seed " << seed;
            EXPECT_LE(optimal - value, plan.claimed_accuracy + 1e-12) << entry.name << ", seed " << seed;
            EXPECT_NEAR(plan.claimed_value, value, 1e-12) << entry.name << ", seed " << seed;
        }
    }
}

TEST(Planners, AreFoundByTheirDistinctNames) {
    std::set<std::string> names;
    for (const PlannerEntry& entry : planners()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        EXPECT_FALSE(entry.summary.empty()) << entry.name;
        EXPECT_NE(make_planner(entry.name), nullptr);
    }
    EXPECT_TRUE(names.contains("backward-induction"));
    EXPECT_TRUE(names.contains("lookahead"));
}

TEST(Planners, AnUnknownNameIsAnsweredWithThoseThatExist) {
    try {
        make_planner("oracle");
        FAIL() << "an unknown planner was made";
    } catch (const InvalidArgument& error) {
        const std::string message = error.what();
        EXPECT_NE(message.find("'oracle'"), std::string::npos) << message;
        for (const PlannerEntry& entry : planners()) {
            EXPECT_NE(message.find(entry.name), std::string::npos) << message;
        }
    }
}

TEST(Planners, RefuseARewardOfAnotherShape) {
    const MixtureModel model = support::random_model(1, {.shape = {5, 3, 4}});
    for (const PlannerEntry& entry : planners()) {
        EXPECT_THROW(entry.make()->plan(model, Reward::constant({5, 3, 2}, 1)), InvalidArgument);
    }
}

TEST(Planner, APolicyOfAnotherShapeIsRefused) {
    class Careless final : public Planner {
        Plan do_plan(const MixtureModel&, const Reward&) const override {
            return Plan{Policy::uniform({2, 2, 2}), 0, 0};
        }
    };
    const MixtureModel model = support::random_model(1, {.shape = {5, 3, 4}});
    EXPECT_THROW(Careless().plan(model, Reward::constant({5, 3, 4}, 1)), InvalidArgument);
}

TEST(Lookahead, MissesWhatIsBeyondItsSight) {
    // Four states, six steps. Going right at once reaches the end at step 3 and earns 1 at steps 3, 4, 5.
    // From state 0 the end is three moves away, so it is in sight from depth 4 on; shorter sight stays
    // for 0.1 a step, 0.6 in all.
    const MixtureModel model = line(4, 6);
    const Reward reward = line_reward(4, 6);
    for (const Index depth : {1, 2, 3}) {
        EXPECT_NEAR(LookaheadPlanner(depth).plan(model, reward).claimed_value, 0.6, 1e-14) << depth;
    }
    for (const Index depth : {5, 6, 50}) {
        EXPECT_NEAR(LookaheadPlanner(depth).plan(model, reward).claimed_value, 3.0, 1e-14) << depth;
    }
    EXPECT_NEAR(make_planner("lookahead")->plan(model, reward).claimed_value, 0.6, 1e-14);
    EXPECT_NEAR(make_planner("backward-induction")->plan(model, reward).claimed_value, 3.0, 1e-14);
}

TEST(Lookahead, IsExactWhenItSeesTheHorizon) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{8, 3, 5};
        const MixtureModel model = support::random_model(random, {.shape = shape});
        const Reward reward = support::random_reward(random, shape);
        EXPECT_EQ(LookaheadPlanner(5).plan(model, reward).policy, backward_induction(model, reward).policy);
    }
}

TEST(Lookahead, OfOneStepIsGreedy) {
    Stream random = support::test_stream(9);
    const Shape shape{8, 3, 5};
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Reward reward = support::random_reward(random, shape);
    const Plan plan = LookaheadPlanner(1).plan(model, reward);
    for (Step h = 0; h < shape.horizon; ++h) {
        for (State s = 0; s < shape.states; ++s) {
            for (Action a = 0; a < shape.actions; ++a) {
                EXPECT_LE(reward.at(h, s, a), reward.at(h, s, plan.policy.action(h, s)));
            }
        }
    }
}

TEST(Lookahead, MustSeeAtLeastOneStepAndClaimsNothing) {
    EXPECT_THROW(LookaheadPlanner(0), InvalidArgument);
    const MixtureModel model = line(3, 4);
    EXPECT_TRUE(std::isinf(LookaheadPlanner().plan(model, line_reward(3, 4)).claimed_accuracy));
}

}  // namespace
}  // namespace alidade
