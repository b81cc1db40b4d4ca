#include <cmath>

#include "alidade/run/run_store.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

class Explore : public Tool {
protected:
    void expect_equal_runs(const std::string& one, const std::string& other) const {
        const detail::RunStore first = detail::RunStore::open(path(one)),
                               second = detail::RunStore::open(path(other));
        EXPECT_TRUE(first.checkpoint()->counts == second.checkpoint()->counts);
        EXPECT_TRUE(first.checkpoint()->memory == second.checkpoint()->memory);
        EXPECT_TRUE(first.result()->evidence == second.result()->evidence);
    }
};

TEST_F(Explore, GivesTheStableKeys) {
    const Outcome explored = explore("run");
    ASSERT_EQ(explored.code, 0) << explored.err;
    const json object = explored.object();
    expect_keys(object, {"algorithm", "constants", "episodes", "replans", "seed", "delta", "certificate",
                         "contributions", "weights", "seconds", "stopped", "run"});
    expect_keys(object["certificate"], {"reward_free", "vacuous", "method", "candidates"});
    expect_keys(object["seconds"], {"total", "explore", "plan", "certify"});
    EXPECT_EQ(object["episodes"], 2000);
    EXPECT_EQ(object["delta"], 0.1);
    EXPECT_EQ(object["stopped"], "budget");
    EXPECT_EQ(object["weights"].size(), 4u);
    for (const json& row : object["weights"]) {
        double sum = 0;
        for (const double weight : row) sum += weight;
        EXPECT_NEAR(sum, 1, 1e-9);
    }
    // The bound is at most H, and vacuous exactly when no candidate is below H.
    double least = 1e300;
    for (const auto& [name, value] : object["certificate"]["candidates"].items())
        least = std::min(least, value.get<double>());
    EXPECT_EQ(object["certificate"]["reward_free"], std::min(least, 4.0));
    EXPECT_EQ(object["certificate"]["vacuous"], least >= 4);
}

TEST_F(Explore, ServesThePapersConstants) {
    const json sharp = explore("sharp").object();
    const json paper = explore("paper", {"--algorithm", "hoeffding?ties=first", "--confidence",
                                         "regression?width=l1&constants=paper"})
                           .object();
    EXPECT_EQ(paper["constants"], "paper");
    EXPECT_EQ(paper["planned_episodes"], 2000);
    EXPECT_EQ(paper["algorithm"], "hoeffding?ties=first");
    EXPECT_EQ(paper["confidence"], "regression?constants=paper&episodes=2000&width=l1");
    EXPECT_EQ(paper["certificate"]["method"], "printed");
    EXPECT_GE(paper["certificate"]["candidates"]["printed"], sharp["certificate"]["reward_free"]);
    // What is stored is certified again to the same number.
    const Outcome again = run({"certify", "paper", "--json"});
    EXPECT_EQ(again.code, 0) << again.err;
    EXPECT_EQ(again.object()["candidates"], paper["certificate"]["candidates"]);
    // The radius was told of 2000 episodes: a run of more is another run.
    EXPECT_EQ(explore("paper", {"--constants", "paper", "--episodes", "3000"}).code, 2);
}

TEST_F(Explore, TakesTheEpisodesOfTheoremOneIfThePapersConstantsHaveATargetAlone) {
    const Outcome explored =
        run({"explore", "builtin:garnet?states=4&actions=2&features=2&horizon=2&successors=3", "-o", "run",
             "--constants", "paper", "--target", "1.9", "--json"});
    EXPECT_EQ(explored.code, 0) << explored.err;
    const json object = explored.object();
    const Outcome bound = run({"bound", "--features", "2", "--horizon", "2", "--epsilon", "1.9", "--json"});
    ASSERT_EQ(bound.code, 0) << bound.err;
    const json bounds = bound.object()["bounds"];
    for (const json& row : bounds)
        if (row["name"] == "theorem-1") {
            EXPECT_NEAR(object["planned_episodes"].get<double>(), row["episodes"].get<double>(), 1);
        }
    EXPECT_LT(object["episodes"], object["planned_episodes"]);
}

TEST_F(Explore, LeavesOutSharpeningsByName) {
    const json all = explore("all").object();
    EXPECT_FALSE(all.contains("confidence"));
    const json some =
        explore("some", {"--confidence", "regression?without=span+hull+chains+coupling+divergences"})
            .object();
    EXPECT_EQ(some["confidence"], "regression?without=hull+coupling+span+divergences+chains");
    EXPECT_EQ(some["certificate"]["candidates"].size(), 1u);
    EXPECT_GE(some["certificate"]["candidates"]["model"], all["certificate"]["candidates"]["model"]);
    EXPECT_EQ(run({"certify", "some", "--json"}).object()["candidates"], some["certificate"]["candidates"]);
}

TEST_F(Explore, TextSaysTheCertificateAndWhatIsNext) {
    const Outcome explored = run({"explore", small_problem, "-o", "run", "--episodes", "1"});
    EXPECT_EQ(explored.code, 0);
    EXPECT_NE(explored.out.find("vacuous"), std::string::npos);
    EXPECT_NE(explored.out.find("alidade plan run"), std::string::npos);
    EXPECT_EQ(explored.out.find('\x1b'), std::string::npos);
    EXPECT_EQ(explored.err, "");
}

TEST_F(Explore, ExitCodeTellsWhetherTheTargetIsMet) {
    const auto explore_to = [&](const char* target, const char* episodes) {
        return run(
            {"explore", small_problem, "-o", "run", "--target", target, "--episodes", episodes, "--json"});
    };
    const Outcome missed = explore_to("0.001", "2000");
    EXPECT_EQ(missed.code, 3);
    EXPECT_EQ(missed.object()["stopped"], "budget");
    // A larger target is another wish for the same run.
    const Outcome met = explore_to("3.9", "1e6");
    EXPECT_EQ(met.code, 0) << met.err;
    EXPECT_EQ(met.object()["stopped"], "target");
}

TEST_F(Explore, SameSeedSameBytesForAnyThreads) {
    const json one = explore("one", {"--threads", "1"}).object();
    const json two = explore("two", {"--threads", "2"}).object();
    const json again = explore("again", {"--threads", "1"}).object();
    EXPECT_EQ(comparable(one), comparable(two));
    EXPECT_EQ(comparable(one), comparable(again));
    expect_equal_runs("one", "two");
    expect_equal_runs("one", "again");
    EXPECT_NE(comparable(explore("other", {"--seed", "1"}).object())["weights"], one["weights"]);
}

TEST_F(Explore, ALargerBudgetGoesOnAsIfNeverStopped) {
    ASSERT_EQ(run({"explore", small_problem, "-o", "parts", "--episodes", "150", "--replan", "every"}).code,
              0);
    const auto explore_to = [&](const std::string& name) {
        return run(
            {"explore", small_problem, "-o", name, "--replan", "every", "--episodes", "300", "--json"});
    };
    const Outcome parts = explore_to("parts"), straight = explore_to("whole");
    EXPECT_NE(parts.err.find("Resuming after 150"), std::string::npos);
    EXPECT_EQ(comparable(parts.object()), comparable(straight.object()));
    expect_equal_runs("parts", "whole");
}

TEST_F(Explore, RepeatingAFinishedRunChangesNothing) {
    const json first = explore("run").object(), second = explore("run").object();
    EXPECT_EQ(comparable(first), comparable(second));
}

TEST_F(Explore, AnotherRunIsReplacedOnlyWhenAsked) {
    ASSERT_EQ(explore("run").code, 0);
    const Outcome refused = explore("run", {"--seed", "9"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("--seed 0 (not 9)"), std::string::npos) << refused.err;
    EXPECT_EQ(explore("run", {"--seed", "9", "--overwrite"}).object()["seed"], 9);
}

TEST_F(Explore, FlagsBeatTheProblemsTarget) {
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0);
    std::string toml = text_of(path("folder/problem.toml"));
    toml += "\n[target]\ndelta = 0.05\nepisodes = 500\n";
    write_text(path("folder/problem.toml"), toml);
    const json object = run({"explore", "folder", "-o", "one", "--json"}).object();
    EXPECT_EQ(object["delta"], 0.05);
    EXPECT_EQ(object["episodes"], 500);
    const json flagged =
        run({"explore", "folder", "-o", "two", "--delta", "0.2", "--episodes", "6e2", "--json"}).object();
    EXPECT_EQ(flagged["delta"], 0.2);
    EXPECT_EQ(flagged["episodes"], 600);
}

TEST_F(Explore, TheBaselineRunsToo) {
    const Outcome explored = explore("run", {"--algorithm", "uniform", "--replan", "doubling"});
    EXPECT_EQ(explored.code, 0) << explored.err;
    EXPECT_EQ(explored.object()["algorithm"], "uniform");
}

}  // namespace
}  // namespace alidade::testing
