#include <fmt/format.h>

#include <algorithm>

#include "alidade/run/run_store.hpp"
#include "support/effort.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A run whose data contradict its model, and what the commands say of it.
class ContradictedRun : public Tool {
protected:
    /// Learns "run" from 1500 episodes with always the same of three successors, the one that no base model
    /// favours.
    Outcome learn(const Words& more = {}) const {
        EXPECT_EQ(explore("explored").code, 0);
        const detail::RunStore store = detail::RunStore::open(path("explored"), Access::read);
        const FeatureMap& features = store.problem().features();
        Index rarest = features.first_entry(0);
        for (Index entry = rarest; entry < features.first_entry(1); ++entry)
            if (std::ranges::max(features.phi(entry)) < std::ranges::max(features.phi(rarest)))
                rarest = entry;
        write_text(path("log.jsonl"),
                   fmt::format("{{\"states\": [0, {}], \"actions\": [0], \"count\": 1500}}\n",
                               features.targets()[at(rarest)]));
        Words words{"learn", small_problem, "--episodes", "log.jsonl", "-o", "run", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }

    /// The same command as text and as JSON, quiet and not: 4, and 0 for those who go on; said in all cases.
    void expect_said(const Words& words, const char* kind = "model-check") const {
        for (const bool json : {false, true})
            for (const bool quiet : {false, true})
                for (const bool despite : {false, true}) {
                    Words all = words;
                    if (json) all.push_back("--json");
                    if (quiet) all.push_back("--quiet");
                    if (despite) all.push_back("--despite-contradiction");
                    SCOPED_TRACE(fmt::format("{}", fmt::join(all, " ")));
                    const Outcome outcome = run(all);
                    EXPECT_EQ(outcome.code, despite ? 0 : 4) << outcome.err;
                    EXPECT_TRUE(contains(outcome.err, "contradict")) << outcome.err;
                    if (json) {
                        const auto object = outcome.object();
                        ASSERT_TRUE(object.contains("contradiction")) << outcome.out;
                        EXPECT_EQ(object["contradiction"]["kind"], kind);
                        expect_keys(object["contradiction"], {"kind", "what", "episodes"});
                    } else {
                        EXPECT_TRUE(contains(outcome.out, "CONTRADICT")) << outcome.out;
                    }
                }
    }
    void make_plan() const {
        write_text(path("reward.json"), R"({"default": 0, "entries": [{"state": 1, "reward": 1}]})");
        write_text(path("other.json"), R"({"default": 0.5})");
        ASSERT_EQ(run({"plan", "run", "--reward", "reward.json", "-o", "plan.json", "--keep", "mine"}).code,
                  4);
        ASSERT_TRUE(std::filesystem::exists(path("plan.json")));
    }
};

TEST_F(ContradictedRun, IsCalledSoByEveryCommandThatStatesABound) {
    const Outcome learned = learn();
    EXPECT_EQ(learned.code, 4);
    const json found = learned.object()["contradiction"];
    EXPECT_EQ(found["kind"], "model-check");
    EXPECT_EQ(found["episodes"], 1500);
    EXPECT_EQ(found["step"], 0);
    EXPECT_EQ(found["state"], 0);
    EXPECT_EQ(found["action"], 0);
    EXPECT_EQ(found["level"], 0.01);
    EXPECT_EQ(found["log_evidence"], learned.object()["model_check"]["log_evidence"]);
    EXPECT_EQ(detail::RunStore::open(path("run"), Access::read).checkpoint()->contradiction->what,
              found["what"]);
    make_plan();
    // With the check of the command itself, and without it: what is stored counts.
    for (const char* level : {"0.01", "0"}) {
        if (support::effort_is("sanitized") && std::string(level) == "0") continue;
        expect_said({"certify", "run", "--fit-level", level});
        expect_said(
            {"certify", "run", "--reward", "reward.json", "--policy", "plan.json", "--fit-level", level});
        expect_said({"certify", "run", "--reward", "reward.json", "--reward", "other.json", "--policy",
                     "plan.json", "--fit-level", level});
        expect_said({"plan", "run", "--reward", "reward.json", "--fit-level", level});
        expect_said(
            {"plan", "run", "--reward", "reward.json", "--reward", "other.json", "--fit-level", level});
        expect_said({"plans", "run", "--fit-level", level});
        expect_said({"audit", "run", "--rewards", "3", "--climb", "3", "--fit-level", level});
    }
    expect_said({"learn", small_problem, "--episodes", "log.jsonl", "-o", "again", "--overwrite"});
    EXPECT_EQ(run({"report", "run", "-o", "page.html"}).code, 4);
    EXPECT_NE(text_of(path("page.html")).find("Do not rely on any bound"), std::string::npos);
    EXPECT_EQ(run({"report", "run", "--json"}).code, 4);
    EXPECT_EQ(run({"report", "run", "-o", "page.html", "--despite-contradiction"}).code, 0);
    // A command that states the bounds of another run does not.
    EXPECT_FALSE(run({"certify", "explored", "--json"}).object().contains("contradiction"));
}

TEST_F(ContradictedRun, IsPlannedOnWithTheModelCheckInTheJson) {
    EXPECT_EQ(learn().code, 4);
    make_plan();
    const json one = run({"plan", "run", "--reward", "reward.json", "--json", "--quiet"}).object();
    EXPECT_TRUE(one["model_check"]["contradicted"]);
    const json many =
        run({"plan", "run", "--reward", "reward.json", "--reward", "other.json", "--json"}).object();
    EXPECT_TRUE(many["model_check"]["contradicted"]);
    EXPECT_EQ(many["contradiction"], one["contradiction"]);
    // A run without a contradiction says that it was checked.
    const json sound = run({"plan", "explored", "--reward", "reward.json", "--json"}).object();
    EXPECT_FALSE(sound["model_check"]["contradicted"]);
    EXPECT_FALSE(sound.contains("contradiction"));
}

TEST_F(ContradictedRun, IsExportedOnlyWhenTheUserSaysSo) {
    EXPECT_EQ(learn().code, 4);
    for (const char* view : {"point", "interval", "parametric"}) {
        const std::string file = std::string(view) + ".drn";
        const Words words{"export", "run",    "--view",  view,          "-o",
                          file,     "--json", "--quiet", "--fit-level", "0"};
        const Outcome refused = run(words);
        EXPECT_EQ(refused.code, 4) << view;
        EXPECT_FALSE(std::filesystem::exists(path(file))) << view;
        EXPECT_EQ(refused.object()["contradiction"]["kind"], "model-check");
        EXPECT_TRUE(contains(refused.err, "nothing was written")) << refused.err;
        Words despite = words;
        despite.push_back("--despite-contradiction");
        const Outcome written = run(despite);
        EXPECT_EQ(written.code, 0) << written.err;
        EXPECT_TRUE(std::filesystem::exists(path(file))) << view;
        EXPECT_EQ(written.object()["contradiction"], refused.object()["contradiction"]);
        EXPECT_TRUE(contains(written.err, "contradict")) << written.err;
        const Outcome text = run({"export", "run", "--view", view, "-o", file, "--overwrite",
                                  "--despite-contradiction", "--quiet"});
        EXPECT_EQ(text.code, 0);
        EXPECT_TRUE(contains(text.out, "CONTRADICT")) << text.out;
    }
}

TEST_F(ContradictedRun, OfAnEarlierVersionIsFoundOutByTheCheckOfEachCommand) {
    // Without a check nothing is stored, as in runs that were made before contradictions were.
    EXPECT_EQ(learn({"--fit-level", "0"}).code, 0);
    EXPECT_FALSE(detail::RunStore::open(path("run"), Access::read).checkpoint()->contradiction);
    write_text(path("reward.json"), R"({"default": 0.5})");
    expect_said({"certify", "run"});
    expect_said({"plan", "run", "--reward", "reward.json"});
    expect_said({"audit", "run", "--rewards", "3", "--climb", "3"});
    EXPECT_EQ(run({"export", "run", "-o", "model.drn"}).code, 4);
    EXPECT_EQ(run({"certify", "run", "--fit-level", "0"}).code, 0);
    EXPECT_EQ(run({"export", "run", "-o", "model.drn", "--fit-level", "0"}).code, 0);
    EXPECT_FALSE(detail::RunStore::open(path("run"), Access::read).checkpoint()->contradiction);
}

/// Few rows and few weights: the evidence of a right model may rise for a while.
constexpr const char* fickle_problem =
    "builtin:garnet?states=3&actions=2&features=2&horizon=2&successors=2&concentration=1&seed=5";

TEST_F(ContradictedRun, StaysSoThoughTheEvidenceFalls) {
    // At a level that a right model crosses now and then; with this seed it does after ten episodes.
    const Words first{"explore", fickle_problem, "-o", "run", "--seed", "14", "--episodes", "10"};
    Words loose = first;
    loose.insert(loose.end(), {"--fit-level", "0.99", "--json"});
    const Outcome crossed = run(loose);
    ASSERT_EQ(crossed.code, 4) << crossed.out;
    ASSERT_EQ(crossed.object()["contradiction"]["level"], 0.99);

    const auto explore_to = [&](const Words& more) {
        Words words{"explore", fickle_problem, "-o", "run", "--seed", "14", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    for (const char* level : {"0.01", "0"}) {
        const Outcome refused = explore_to({"--episodes", "500", "--fit-level", level});
        EXPECT_EQ(refused.code, 4);
        expect_keys(refused.object()["error"], {"what", "where", "why", "fix"});
        EXPECT_EQ(refused.object()["contradiction"], crossed.object()["contradiction"]);
        EXPECT_TRUE(contains(refused.err, "not explored further")) << refused.err;
        EXPECT_EQ(detail::RunStore::open(path("run"), Access::read).checkpoint()->counts.episodes(), 10);
    }
    const Outcome further = explore_to({"--episodes", "2000", "--despite-contradiction"});
    EXPECT_EQ(further.code, 0) << further.err;
    EXPECT_EQ(further.object()["episodes"], 2000);
    EXPECT_FALSE(further.object()["model_check"]["contradicted"]);
    EXPECT_EQ(further.object()["contradiction"], crossed.object()["contradiction"]);
    EXPECT_EQ(explore_to({"--episodes", "2000", "--target", "1e-9", "--despite-contradiction"}).code, 3);
    expect_said({"certify", "run"});

    // Going on changes nothing but the words: the same run, never contradicted, has the same bytes inside.
    const Outcome straight =
        run({"explore", fickle_problem, "-o", "straight", "--seed", "14", "--episodes", "2000", "--json"});
    EXPECT_EQ(straight.code, 0) << straight.err;
    json said = comparable(further.object());
    said.erase("contradiction");
    EXPECT_EQ(said, comparable(straight.object()));
    EXPECT_EQ(detail::RunStore::open(path("run"), Access::read).checkpoint()->memory,
              detail::RunStore::open(path("straight"), Access::read).checkpoint()->memory);
}

TEST_F(ContradictedRun, WhoseSetsAreEmptyIsKeptAndGoneOnWithOnlyWhenToldTo) {
    const auto explore_to = [&](const char* episodes, const Words& more = {}) {
        Words words{"explore",   small_problem, "-o",     "run",   "--algorithm",
                    "hoeffding", "--episodes",  episodes, "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    ASSERT_EQ(explore_to("2000").code, 0);
    {
        detail::RunStore store = detail::RunStore::open(path("run"));
        RunCheckpoint checkpoint = *store.checkpoint();
        // Moments a thousand times too large put the estimate far outside the simplex.
        for (double& moment : checkpoint.memory.numbers.at("regression.moment")) moment *= 1000;
        store.save(checkpoint);
    }
    const Outcome found = explore_to("4000");
    EXPECT_EQ(found.code, 4) << found.err;
    EXPECT_EQ(found.object()["contradiction"]["kind"], "empty-confidence-set");
    EXPECT_TRUE(contains(found.err, "what was seen is stored")) << found.err;
    const auto stored = detail::RunStore::open(path("run"), Access::read).checkpoint();
    EXPECT_GE(stored->counts.episodes(), 2000);
    EXPECT_EQ(stored->contradiction->episodes, stored->counts.episodes());
    // The certificate from before is still there to be seen, with what became of it.
    expect_said({"certify", "run"}, "empty-confidence-set");
    EXPECT_EQ(explore_to("4000").code, 4);
    EXPECT_EQ(detail::RunStore::open(path("run"), Access::read).checkpoint()->counts, stored->counts);
    const Outcome further = explore_to("4000", {"--despite-contradiction"});
    EXPECT_EQ(further.code, 0) << further.err;
    EXPECT_EQ(further.object()["episodes"], 4000);
    EXPECT_EQ(further.object()["contradiction"], found.object()["contradiction"]);
    expect_said({"certify", "run"}, "empty-confidence-set");
}

TEST_F(ContradictedRun, BeginsWithTheFlagAsWell) {
    const Words words{"explore",
                      fickle_problem,
                      "-o",
                      "run",
                      "--seed",
                      "14",
                      "--episodes",
                      "10",
                      "--fit-level",
                      "0.99",
                      "--despite-contradiction",
                      "--target",
                      "1e-9"};
    const Outcome explored = run(words);
    EXPECT_EQ(explored.code, 3) << explored.err;
    EXPECT_TRUE(contains(explored.out, "CONTRADICT")) << explored.out;
    EXPECT_TRUE(detail::RunStore::open(path("run"), Access::read).checkpoint()->contradiction);
    const Outcome learned = learn({"--despite-contradiction", "--overwrite"});
    EXPECT_EQ(learned.code, 0) << learned.err;
    EXPECT_TRUE(detail::RunStore::open(path("run"), Access::read).checkpoint()->contradiction);
}

}  // namespace
}  // namespace alidade::testing
