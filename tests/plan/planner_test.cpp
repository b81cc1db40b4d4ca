#include "alidade/plan/planner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <set>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/plan/lookahead.hpp"
#include "plan/line.hpp"
#include "support/random_models.hpp"

namespace alidade::planner_test {
namespace {

using testing::line;
using testing::line_reward;

/// Every planner of the catalogue, cheap enough for many models.
std::vector<std::pair<std::string, std::unique_ptr<Planner>>> cheap_planners() {
    std::vector<std::pair<std::string, std::unique_ptr<Planner>>> result;
    for (const PlannerEntry& entry : planners())
        result.emplace_back(entry.name,
                            make_planner(entry.name == "uct" ? "uct?simulations=20" : entry.name));
    return result;
}

TEST(Planners, NoneBeatsTheOptimumAndClaimsHold) {
    for (const auto& [name, planner] : cheap_planners()) {
        for (std::uint64_t seed = 0; seed < 60; ++seed) {
            Stream random = support::test_stream(seed);
            const Shape shape{4 + static_cast<Index>(seed % 11), 3, 1 + static_cast<Index>(seed % 7)};
            const MixtureModel model =
                support::random_model(random, {.shape = shape, .start_law = seed % 2 == 0});
            const Reward reward = support::random_sparse_reward(random, shape);
            const Plan plan = planner->plan(model, reward);
            const double value = evaluate(model, plan.policy, reward).value;
            const double optimal = backward_induction(model, reward).value;
            EXPECT_LE(value, optimal + 1e-12) << name << ", seed " << seed;
            EXPECT_LE(optimal - value, plan.claimed_accuracy + 1e-12) << name << ", seed " << seed;
            EXPECT_EQ(plan.claimed_value.has_value(), name != "uct");
            if (plan.claimed_value) {
                EXPECT_NEAR(*plan.claimed_value, value, 1e-12) << name << ", seed " << seed;
            }
        }
    }
}

TEST(Planners, TheExactOnesAreOptimalAtEveryStateThatCanBeReached) {
    for (const char* name : {"backward-induction", "linear-program", "policy-iteration"}) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            Stream random = support::test_stream(seed, 1);
            const Shape shape{5 + static_cast<Index>(seed % 9), 1 + static_cast<Index>(seed % 4),
                              1 + static_cast<Index>(seed % 6)};
            const MixtureModel model = support::random_model(
                random, {.shape = shape, .start_law = seed % 3 == 0, .homogeneous = seed % 2 == 0});
            const Reward reward = seed % 2 == 0 ? support::random_reward(random, shape)
                                                : support::random_sparse_reward(random, shape);
            const Plan plan = make_planner(name)->plan(model, reward);
            EXPECT_LE(plan.claimed_accuracy, 1e-8) << name << ", seed " << seed;
            const Matrix values = evaluate(model, plan.policy, reward).values;
            const Matrix optimal = backward_induction(model, reward).values;
            const Matrix reached = occupancy(model, plan.policy);
            for (Step h = 0; h < shape.horizon; ++h)
                for (State s = 0; s < shape.states; ++s)
                    if (reached.row(h).segment(shape.pair(s, 0), shape.actions).sum() > 1e-6) {
                        EXPECT_NEAR(values(h, s), optimal(h, s), 1e-8) << name << ", seed " << seed;
                    }
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
    EXPECT_EQ(names, (std::set<std::string>{"backward-induction", "linear-program", "lookahead",
                                            "policy-iteration", "rollout", "uct"}));
}

TEST(Planners, ParametersHaveAMeaningAndTheirDefaultIsAllowed) {
    for (const PlannerEntry& entry : planners()) {
        for (const RequestParameter& parameter : entry.parameters) {
            EXPECT_FALSE(parameter.meaning.empty()) << entry.name << ", " << parameter.name;
            EXPECT_NO_THROW(make_planner(entry.name + "?" + parameter.name + "=" + parameter.default_value))
                << entry.name << ", " << parameter.name;
        }
    }
    for (const char* request :
         {"uct?simulations=0", "uct?exploration=-1", "uct?exploration=nan", "uct?sims=3", "rollout?depth=0",
          "rollout?base=best", "lookahead?depth=x", "lookahead?", "backward-induction?depth=2",
          "policy-iteration?sweeps=-1", "", "?"})
        EXPECT_THROW(make_planner(request), InvalidArgument) << request;
}

TEST(Planners, ParametersReachThePlanner) {
    const TransitionModel model = line(4, 6);
    const Reward reward = line_reward(4, 6);
    const auto value = [&](const char* request) {
        return evaluate(model, make_planner(request)->plan(model, reward).policy, reward).value;
    };
    EXPECT_NEAR(value("lookahead?depth=3"), 0.6, 1e-14);
    EXPECT_NEAR(value("lookahead?depth=5"), 3.0, 1e-14);
    // Always staying is worth 0.6; one more step of sight does not reach the end.
    EXPECT_NEAR(value("rollout?base=first&depth=1"), 0.6, 1e-14);
    EXPECT_NEAR(value("rollout?base=first&depth=6"), 3.0, 1e-14);
    EXPECT_NEAR(value("policy-iteration?start=first"), 3.0, 1e-14);
    EXPECT_LT(value("policy-iteration?start=first&sweeps=1"), 2.0);
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
        EXPECT_THROW(make_planner(entry.name)->plan(model, Reward::constant({5, 3, 2}, 1)), InvalidArgument);
    }
}

TEST(Planner, APolicyOfAnotherShapeIsRefused) {
    class Careless final : public Planner {
        Plan do_plan(const TransitionModel&, const Reward&) const override {
            return Plan{Policy::uniform({2, 2, 2}), 0.0, 0};
        }
    };
    const MixtureModel model = support::random_model(1, {.shape = {5, 3, 4}});
    EXPECT_THROW(Careless().plan(model, Reward::constant({5, 3, 4}, 1)), InvalidArgument);
}

TEST(Lookahead, MissesWhatIsBeyondItsSight) {
    // Four states, six steps. Going right at once reaches the end at step 3 and earns 1 at steps 3, 4, 5.
    // From state 0 the end is three moves away, so it is in sight from depth 4 on; shorter sight stays
    // for 0.1 a step, 0.6 in all.
    const TransitionModel model = line(4, 6);
    const Reward reward = line_reward(4, 6);
    for (const Index depth : {1, 2, 3}) {
        EXPECT_NEAR(detail::LookaheadPlanner(depth).plan(model, reward).claimed_value.value(), 0.6, 1e-14)
            << depth;
    }
    for (const Index depth : {5, 6, 50}) {
        EXPECT_NEAR(detail::LookaheadPlanner(depth).plan(model, reward).claimed_value.value(), 3.0, 1e-14)
            << depth;
    }
    EXPECT_NEAR(make_planner("lookahead")->plan(model, reward).claimed_value.value(), 0.6, 1e-14);
    EXPECT_NEAR(make_planner("backward-induction")->plan(model, reward).claimed_value.value(), 3.0, 1e-14);
}

TEST(Lookahead, IsExactWhenItSeesTheHorizon) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed);
        const Shape shape{8, 3, 5};
        const MixtureModel model = support::random_model(random, {.shape = shape});
        const Reward reward = support::random_reward(random, shape);
        EXPECT_EQ(detail::LookaheadPlanner(5).plan(model, reward).policy,
                  backward_induction(model, reward).policy);
    }
}

TEST(Lookahead, OfOneStepIsGreedy) {
    Stream random = support::test_stream(9);
    const Shape shape{8, 3, 5};
    const MixtureModel model = support::random_model(random, {.shape = shape});
    const Reward reward = support::random_reward(random, shape);
    const Plan plan = detail::LookaheadPlanner(1).plan(model, reward);
    for (Step h = 0; h < shape.horizon; ++h) {
        for (State s = 0; s < shape.states; ++s) {
            for (Action a = 0; a < shape.actions; ++a) {
                EXPECT_LE(reward.at(h, s, a), reward.at(h, s, plan.policy.action(h, s)));
            }
        }
    }
}

TEST(Lookahead, MustSeeAtLeastOneStepAndClaimsNothing) {
    EXPECT_THROW(detail::LookaheadPlanner(0), InvalidArgument);
    const TransitionModel model = line(3, 4);
    EXPECT_TRUE(std::isinf(detail::LookaheadPlanner().plan(model, line_reward(3, 4)).claimed_accuracy));
}

}  // namespace
}  // namespace alidade::planner_test
