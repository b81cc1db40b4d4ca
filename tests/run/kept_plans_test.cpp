#include <gtest/gtest.h>

#include <vector>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run.hpp"
#include "alidade/run/sqlite.hpp"
#include "support/files.hpp"

namespace alidade::testing::kept_plans {
namespace {

constexpr const char* garnet = "builtin:garnet?states=6&actions=3&features=3&horizon=4&successors=4&seed=5";

/// A run that has explored a little, and plans for it.
class KeptPlans : public ::testing::Test {
protected:
    KeptPlans() {
        alidade::Run made = alidade::Run::create(path_, make_builtin(garnet), garnet, {});
        made.explore({.episodes = 200});
        knowledge_ = made.load()->knowledge;
    }

    KeptPlan plan(const std::string& name, const Policy& policy) const {
        const Reward reward = Reward::constant(shape(), 0.25);
        return {name,
                "file \"r\".json",
                {reward, {.scale = 20, .offset = -3}},
                "cmd:'my planner' {model}",
                policy,
                certify_reward(knowledge_, reward, policy),
                200};
    }
    KeptPlan optimal(const std::string& name) const {
        const Reward reward = Reward::constant(shape(), 0.25);
        return plan(name, backward_induction(knowledge_.learned->model(), reward).policy);
    }
    const Shape& shape() const { return knowledge_.learned->shape(); }

    TemporaryFolder folder_;
    std::filesystem::path path_ = folder_ / "run";
    Knowledge knowledge_;
};

void expect_same(const KeptPlan& one, const KeptPlan& other) {
    EXPECT_EQ(one.name, other.name);
    EXPECT_EQ(one.reward_name, other.reward_name);
    EXPECT_EQ(one.reward.reward, other.reward.reward);
    EXPECT_EQ(one.reward.scale, other.reward.scale);
    EXPECT_EQ(one.planner, other.planner);
    EXPECT_EQ(one.policy, other.policy);
    EXPECT_EQ(one.episodes, other.episodes);
    EXPECT_EQ(one.certificate.value.lower, other.certificate.value.lower);
    EXPECT_EQ(one.certificate.value.upper, other.certificate.value.upper);
    EXPECT_EQ(one.certificate.optimal_upper, other.certificate.optimal_upper);
    EXPECT_EQ(one.certificate.loss_bound, other.certificate.loss_bound);
    EXPECT_EQ(one.certificate.vacuous, other.certificate.vacuous);
    EXPECT_EQ(one.certificate.methods, other.certificate.methods);
    EXPECT_EQ(one.certificate.failure_probability, other.certificate.failure_probability);
}

TEST_F(KeptPlans, AreReadAsTheyWereKept) {
    const KeptPlan decided = optimal("z.decided"), mixed = plan("mixed_1", Policy::uniform(shape()));
    EXPECT_TRUE(alidade::Run::open(path_, Access::read).kept_plans().empty());
    {
        alidade::Run writer = alidade::Run::open(path_);
        writer.keep(std::vector{decided, mixed});
    }
    const std::vector<KeptPlan> kept = alidade::Run::open(path_, Access::read).kept_plans();
    ASSERT_EQ(kept.size(), 2U);
    expect_same(kept[0], mixed);
    expect_same(kept[1], decided);
}

TEST_F(KeptPlans, OfTheSameNameReplaceEachOther) {
    alidade::Run writer = alidade::Run::open(path_);
    writer.keep(std::vector{optimal("one")});
    writer.keep(std::vector{optimal("two")});
    writer.keep(std::vector{plan("one", Policy::uniform(shape()))});
    const std::vector<KeptPlan> kept = writer.kept_plans();
    ASSERT_EQ(kept.size(), 2U);
    expect_same(kept[0], plan("one", Policy::uniform(shape())));
    expect_same(kept[1], optimal("two"));
}

// A plan changes nothing but its own tables, and a run that goes on does not touch it.
TEST_F(KeptPlans, LeaveTheRunAsItWas) {
    const KeptPlan kept = optimal("plan");
    const auto episodes_after = [&](std::int64_t more) {
        alidade::Run writer = alidade::Run::open(path_);
        return writer.explore({.episodes = more}).knowledge.certificate.candidates;
    };
    alidade::Run::open(path_).keep(std::vector{kept});
    EXPECT_EQ(alidade::Run::open(path_, Access::read).load()->knowledge.certificate.candidates,
              knowledge_.certificate.candidates);
    const auto went_on = episodes_after(400);
    expect_same(alidade::Run::open(path_, Access::read).kept_plans().at(0), kept);
    const std::filesystem::path other = folder_ / "other";
    alidade::Run unkept = alidade::Run::create(other, make_builtin(garnet), garnet, {});
    unkept.explore({.episodes = 200});
    EXPECT_EQ(unkept.explore({.episodes = 400}).knowledge.certificate.candidates, went_on);
}

TEST_F(KeptPlans, AreRefusedIfTheyAreNotOfTheRun) {
    alidade::Run writer = alidade::Run::open(path_);
    for (const std::string name : {"", ".hidden", "a/b", "a b", "\xc3\xa4", "new\nline"})
        EXPECT_THROW(writer.keep(std::vector{optimal(name)}), InvalidArgument) << name;
    EXPECT_THROW(writer.keep(std::vector{optimal(std::string(101, 'a'))}), InvalidArgument);
    KeptPlan other = optimal("plan");
    other.policy = Policy::uniform({2, 2, 2});
    EXPECT_THROW(writer.keep(std::vector{other}), InvalidArgument);
    EXPECT_THROW(writer.keep(std::vector{optimal("sound"), other}), InvalidArgument);  // all or none
    EXPECT_THROW(alidade::Run::open(path_, Access::read).keep(std::vector{optimal("plan")}), InvalidArgument);
    EXPECT_TRUE(writer.kept_plans().empty());
}

TEST_F(KeptPlans, AreRefusedIfTheyAreNotWhatWasWritten) {
    const std::vector<std::string> damages{
        "UPDATE kept SET value = 0 WHERE key = 'plan/loss_bound'",
        "DELETE FROM kept WHERE key = 'plan/planner'",
        "DELETE FROM kept_arrays WHERE name = 'plan/policy'",
        "UPDATE kept_arrays SET data = zeroblob(length(data)) WHERE name = 'plan/reward'",
        "DROP TABLE kept",
        "DELETE FROM digests WHERE section = 'kept'",
        "DELETE FROM digests WHERE section = 'kept_arrays'"};
    alidade::Run::open(path_).keep(std::vector{optimal("plan")});
    const std::filesystem::path whole = folder_ / "whole";
    std::filesystem::copy(path_, whole);
    for (const std::string& damage : damages) {
        std::filesystem::remove_all(path_);
        std::filesystem::copy(whole, path_);
        detail::sqlite::Database(path_ / "run.sqlite", detail::sqlite::OpenMode::write).execute(damage);
        EXPECT_THROW(alidade::Run::open(path_, Access::read).kept_plans(), RunRefused) << damage;
    }
}

}  // namespace
}  // namespace alidade::testing::kept_plans
