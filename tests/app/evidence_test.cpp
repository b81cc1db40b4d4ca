#include "alidade/run/run_store.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

/// Runs whose stored numbers do not belong together.
class Evidence : public Tool {};

TEST_F(Evidence, ACertificateThatDoesNotFollowFromItIsFound) {
    ASSERT_EQ(explore("run").code, 0);
    {
        detail::RunStore store = detail::RunStore::open(path("run"));
        RunResult result = *store.result();
        result.reward_free *= 0.5;
        store.save(*store.checkpoint(), result);
    }
    const Outcome certified = run({"certify", "run", "--json"});
    EXPECT_EQ(certified.code, 1);
    EXPECT_EQ(certified.object()["agrees"], false);
    EXPECT_NE(certified.err.find("does not follow"), std::string::npos);
    EXPECT_NE(run({"certify", "run"}).out.find("DIFFERS"), std::string::npos);
}

TEST_F(Evidence, ThatContradictsTheModelEndsWithExitCodeFourAndIsKept) {
    ASSERT_EQ(explore("run", {"--algorithm", "hoeffding"}).code, 0);
    {
        detail::RunStore store = detail::RunStore::open(path("run"));
        RunCheckpoint checkpoint = *store.checkpoint();
        // Moments a thousand times too large put the estimate far outside the simplex.
        for (double& moment : checkpoint.memory.numbers.at("regression.moment")) moment *= 1000;
        store.save(checkpoint);
    }
    const Outcome contradicted = run(
        {"explore", small_problem, "-o", "run", "--algorithm", "hoeffding", "--episodes", "4000", "--json"});
    EXPECT_EQ(contradicted.code, 4) << contradicted.err;
    expect_keys(contradicted.object()["error"], {"what", "where", "why", "fix"});
    EXPECT_GE(detail::RunStore::open(path("run")).checkpoint()->counts.episodes(), 2000);
    EXPECT_EQ(run({"certify", "run"}).code, 4);
    EXPECT_EQ(run({"certify", "run", "--despite-contradiction"}).code, 0);
}

TEST_F(Evidence, OfARunThatWasKilledIsItsLastCheckpoint) {
    const json explored = explore("run", {"--replan", "every"}).object();
    {
        const detail::RunStore finished = detail::RunStore::open(path("run"));
        detail::RunStore killed = detail::RunStore::create(path("killed"), finished.problem(),
                                                           finished.source(), finished.options());
        EXPECT_EQ(run({"certify", "killed"}).code, 2);
        killed.save(*finished.checkpoint());
    }
    const Outcome certified = run({"certify", "killed", "--json"});
    ASSERT_EQ(certified.code, 0) << certified.err;
    EXPECT_TRUE(certified.object()["stored"].is_null());
    EXPECT_GT(certified.object()["episodes"], 0);
}

TEST_F(Evidence, WhatCannotBeWrittenIsAFailure) {
    ASSERT_EQ(explore("run").code, 0);
    write_text(path("reward.json"), R"({"default": 0.5, "entries": []})");
    const Outcome failed = run({"plan", "run", "--reward", "reward.json", "-o", "no/such/plan.json"});
    EXPECT_EQ(failed.code, 1) << failed.err;
    EXPECT_EQ(failed.out, "");
    EXPECT_NE(failed.err.find("no/such/plan.json"), std::string::npos);
}

}  // namespace
}  // namespace alidade::testing
