#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "alidade/files/npz.hpp"
#include "alidade/run/run_store.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

/// Episodes that add up to the counts of full episodes: what goes into a state comes out of it again, so
/// following what is left never gets stuck.
std::vector<Episode> episodes_of(const Counts& counts, const StartLaw& start) {
    const Shape shape = counts.shape();
    const SuccessorMap& successors = counts.successors();
    std::vector<Episode> episodes;
    std::vector<std::int64_t> all = counts.dense();
    for (std::int64_t k = 0; k < counts.episodes(); ++k) {
        Episode episode;
        State state = start.atoms()[0].first;
        for (Step h = 0; h < shape.learned_steps(); ++h) {
            const auto left = std::span(all).subspan(at(h * successors.entries()), at(successors.entries()));
            Index entry = successors.first_entry(shape.pair(state, 0));
            while (left[at(entry)] == 0) ++entry;
            --left[at(entry)];
            Action action = 0;
            while (successors.first_entry(shape.pair(state, action) + 1) <= entry) ++action;
            episode.states.push_back(state);
            episode.actions.push_back(action);
            state = successors.targets()[at(entry)];
        }
        episode.states.push_back(state);
        episode.actions.push_back(0);
        episodes.push_back(std::move(episode));
    }
    return episodes;
}

std::string lines_of(const std::vector<Episode>& episodes) {
    std::string text;
    for (const Episode& episode : episodes)
        text += fmt::format("{{\"states\": [{}], \"actions\": [{}]}}\n", fmt::join(episode.states, ", "),
                            fmt::join(episode.actions, ", "));
    return text;
}

class Learn : public Tool {
protected:
    /// Explores by likelihood into "explored" and writes its episodes to "log.jsonl".
    json explore_and_log() const {
        const Outcome explored = explore("explored", {"--algorithm", "likelihood"});
        EXPECT_EQ(explored.code, 0) << explored.err;
        const detail::RunStore store = detail::RunStore::open(path("explored"), Access::read);
        Counts counts(store.problem().shared_features(), store.problem().shape().horizon);
        const Snapshot evidence = store.result()->evidence;
        counts.take_record(evidence.integers.at("counts"));
        counts.add_episodes(evidence.integers.at("episodes").at(0));
        write_text(path("log.jsonl"), lines_of(episodes_of(counts, store.problem().start())));
        return explored.object();
    }
    Outcome learn(const std::string& name, const Words& more = {}) const {
        Words words{"learn", small_problem, "--episodes", "log.jsonl", "-o", name, "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    void expect_refused(const Words& words, const std::string& what, int code = 2) const {
        Words all{"learn", small_problem};
        all.insert(all.end(), words.begin(), words.end());
        const Outcome refused = run(all);
        EXPECT_EQ(refused.code, code) << refused.err;
        EXPECT_EQ(refused.out, "");
        EXPECT_NE(refused.err.find(what), std::string::npos) << what << "\n" << refused.err;
        for (const char* part : {"error: ", "\nwhere: ", "\nwhy:   ", "\nfix:   "})
            EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err;
    }
};

TEST_F(Learn, RefusesOneLogUnderTwoNames) {
    explore_and_log();
    write_text(path("copy.jsonl"), text_of(path("log.jsonl")));
    expect_refused({"--episodes", "log.jsonl", "--episodes", "copy.jsonl", "-o", "run"},
                   "'log.jsonl' and 'copy.jsonl', which hold the same bytes");
    EXPECT_FALSE(std::filesystem::exists(path("run")));
    // As long, but another log.
    std::string other = text_of(path("log.jsonl"));
    other.replace(other.find("[0"), 2, "[ 0").erase(other.find(", ") + 1, 1);
    write_text(path("copy.jsonl"), other);
    EXPECT_EQ(learn("apart", {"--episodes", "copy.jsonl"}).code, 0);
}

/// A problem in which state 2 follows with probability `tiny` under one base model only, and a log that saw
/// it.
void write_rare_problem(const std::filesystem::path& folder, const std::string& tiny) {
    std::filesystem::create_directories(folder);
    write_text(folder / "problem.toml",
               "[problem]\nname = \"rare\"\nhorizon = 3\ninitial_state = 0\n"
               "[[base]]\nfile = \"a.tra\"\n[[base]]\nfile = \"b.tra\"\n");
    write_text(folder / "a.tra", "3 3 5\n0 0 0 0.5\n0 0 1 0.5\n0 0 2 " + tiny + "\n1 0 1 1\n2 0 2 1\n");
    write_text(folder / "b.tra", "3 3 4\n0 0 0 0.3\n0 0 1 0.7\n1 0 1 1\n2 0 2 1\n");
    write_text(folder / "log.jsonl",
               "{\"states\": [0, 2, 2], \"actions\": [0, 0, 0]}\n"
               "{\"states\": [0, 1, 1], \"actions\": [0, 0, 0], \"count\": 50}\n"
               "{\"states\": [0, 0, 1], \"actions\": [0, 0, 0], \"count\": 30}\n");
}

// The likelihood depends on a row up to a factor only, so the weights must be the same; what was seen is so
// unlikely that the model check says so.
TEST_F(Learn, TakesTransitionsOfAnyProbability) {
    std::optional<json> usual;
    for (const std::string tiny : {"1e-20", "1e-165", "1e-300", "5e-324"}) {
        write_rare_problem(path("rare"), tiny);
        const Outcome learned =
            run({"learn", "rare", "--episodes", "rare/log.jsonl", "-o", "run", "--json", "--overwrite"});
        ASSERT_EQ(learned.code, 4) << learned.err;
        const json object = learned.object();
        if (!usual) usual = object;
        EXPECT_NEAR(object["weights"][0][0], (*usual)["weights"][0][0], 1e-9) << tiny;
        EXPECT_NEAR(object["certificate"]["reward_free"], (*usual)["certificate"]["reward_free"], 1e-6);
        EXPECT_TRUE(object["model_check"]["log_evidence"].is_number()) << tiny;
    }
}

TEST_F(Learn, CertifiesLogsAsExplorationCertifiesTheSameCounts) {
    const json explored = explore_and_log();
    const Outcome outcome = learn("learned");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json learned = outcome.object();
    expect_keys(learned, {"algorithm", "problem", "files", "episodes", "transitions", "delta", "horizon",
                          "certificate", "contributions", "weights", "model_check", "seconds", "stopped",
                          "threads", "run"});
    EXPECT_EQ(learned["algorithm"], "likelihood");
    EXPECT_EQ(learned["transitions"], 3 * learned["episodes"].get<std::int64_t>());
    EXPECT_EQ(learned["certificate"], explored["certificate"]);
    EXPECT_EQ(learned["weights"], explored["weights"]);
    EXPECT_EQ(learned["contributions"], explored["contributions"]);
    const detail::RunStore one = detail::RunStore::open(path("explored")),
                           other = detail::RunStore::open(path("learned"));
    EXPECT_EQ(one.result()->evidence, other.result()->evidence);
    if (explored["episodes"] == learned["episodes"]) {
        EXPECT_EQ(one.checkpoint()->counts, other.checkpoint()->counts);
        EXPECT_EQ(learned["model_check"], explored["model_check"]);
    }
}

TEST_F(Learn, MakesARunThatPlanCertifyAndAuditAccept) {
    explore_and_log();
    ASSERT_EQ(learn("run").code, 0);
    write_text(path("reward.json"), R"({"default": 0, "entries": [{"state": 1, "reward": 1}]})");
    const Outcome plan = run({"plan", "run", "--reward", "reward.json", "-o", "plan.json", "--json"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    const Outcome certified = run({"certify", "run", "--json"});
    EXPECT_EQ(certified.code, 0) << certified.err;
    EXPECT_EQ(certified.object()["agrees"], true);
    EXPECT_FALSE(certified.object()["model_check"]["contradicted"]);
    const Outcome policy =
        run({"certify", "run", "--reward", "reward.json", "--policy", "plan.json", "--json"});
    EXPECT_EQ(policy.code, 0) << policy.err;
    EXPECT_EQ(policy.object()["loss_bound"], plan.object()["loss_bound"]);
    const Outcome audit = run({"audit", "run", "--rewards", "20", "--climb", "20", "--json"});
    EXPECT_EQ(audit.code, 0) << audit.err;
    EXPECT_EQ(audit.object()["violations"], 0);
}

TEST_F(Learn, NeedsNoTruthAndSpeaksText) {
    explore_and_log();
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0);
    std::string toml = text_of(path("folder/problem.toml"));
    toml.erase(toml.find("[environment]"), std::string("[environment]").size());
    toml.erase(toml.find("weights = \"truth.json\""), std::string("weights = \"truth.json\"").size());
    write_text(path("folder/problem.toml"), toml + "\n[target]\ndelta = 0.05\n");
    const Outcome learned = run({"learn", "folder", "--episodes", "log.jsonl", "-o", "run"});
    ASSERT_EQ(learned.code, 0) << learned.err;
    EXPECT_NE(learned.out.find("logged episodes"), std::string::npos);
    EXPECT_NE(learned.out.find("With probability 0.95"), std::string::npos) << learned.out;
    EXPECT_NE(learned.out.find("Model check: nothing found"), std::string::npos);
    EXPECT_EQ(run({"certify", "run"}).code, 0);
    EXPECT_EQ(run({"audit", "run"}).code, 2);
}

TEST_F(Learn, SeveralFilesAreOneLog) {
    explore_and_log();
    const std::string text = text_of(path("log.jsonl"));
    const std::size_t half = text.find('\n', text.size() / 2) + 1;
    write_text(path("a.jsonl"), text.substr(0, half));
    write_text(path("b.ndjson"), text.substr(half));
    json whole = learn("whole").object();
    json parts = run({"learn", small_problem, "--episodes", "a.jsonl", "--episodes", "b.ndjson", "-o",
                      "parts", "--json"})
                     .object();
    whole.erase("files");
    parts.erase("files");
    EXPECT_EQ(comparable(whole), comparable(parts));
    expect_refused({"--episodes", "a.jsonl", "--episodes", "./a.jsonl", "-o", "twice"}, "twice");
}

TEST_F(Learn, ARunFromLogsIsNotExploredFurtherAndNotReplacedUnasked) {
    explore_and_log();
    ASSERT_EQ(learn("run").code, 0);
    const Outcome further = explore("run", {"--algorithm", "likelihood"});
    EXPECT_EQ(further.code, 2);
    EXPECT_NE(further.err.find("alidade learn made of logs"), std::string::npos) << further.err;
    EXPECT_NE(further.err.find("--same-system"), std::string::npos) << further.err;
    EXPECT_EQ(learn("run", {"--overwrite"}).code, 0);
    EXPECT_EQ(learn("explored").code, 2);
    EXPECT_EQ(learn("run", {"--delta", "0.2"}).code, 2);
}

TEST_F(Learn, AddsTheFilesThatARunDoesNotHaveYet) {
    explore_and_log();
    const std::string text = text_of(path("log.jsonl"));
    const std::size_t half = text.find('\n', text.size() / 2) + 1;
    write_text(path("a.jsonl"), text.substr(0, half));
    write_text(path("b.jsonl"), text.substr(half));
    const auto add = [&](const char* file) {
        // The log is sorted, so that its halves are no samples.
        return run({"learn", small_problem, "--episodes", file, "-o", "parts", "--json", "--fit-level", "0"});
    };
    EXPECT_EQ(add("a.jsonl").code, 0);
    json parts = add("b.jsonl").object();
    json again = add("a.jsonl").object();
    EXPECT_EQ(again.at("known"), json({"a.jsonl"}));
    json whole = learn("whole", {"--fit-level", "0"}).object();
    whole.erase("files");
    for (json* object : {&parts, &again, &whole}) {
        object->erase("files");
        object->erase("known");
        EXPECT_EQ(comparable(*object), comparable(whole));
    }
    EXPECT_EQ(run({"replay", "parts", "--json"}).object().at("equal"), true);
}

TEST_F(Learn, LogsAndExperimentsFeedOneRunIfItIsOneSystem) {
    explore_and_log();
    ASSERT_EQ(learn("run").code, 0);
    const Words more{"explore", small_problem, "-o", "run", "--episodes", "2200", "--json"};
    EXPECT_EQ(run(more).code, 2);
    Words claimed = more;
    claimed.emplace_back("--same-system");
    const Outcome further = run(claimed);
    ASSERT_EQ(further.code, 0) << further.err;
    EXPECT_EQ(further.object().at("episodes"), 2200);
    EXPECT_EQ(run({"status", "run", "--json"}).object().at("episodes").at("told"), 2200);
    EXPECT_EQ(run({"replay", "run", "--json"}).code, 0);
    // And the other way round: what was explored by counts is carried along.
    ASSERT_EQ(explore("by-regression", {"--algorithm", "hoeffding"}).code, 0);
    const Outcome told = learn("by-regression", {"--same-system"});
    ASSERT_EQ(told.code, 2) << told.err;
    EXPECT_NE(told.err.find("fixed before"), std::string::npos) << told.err;
    ASSERT_EQ(explore("by-likelihood", {"--algorithm", "likelihood"}).code, 0);
    const Outcome added = learn("by-likelihood", {"--same-system"});
    ASSERT_EQ(added.code, 0) << added.err;
    EXPECT_EQ(added.object().at("episodes"), 4000);
    EXPECT_EQ(run({"replay", "by-likelihood", "--json"}).code, 0);
}

TEST_F(Learn, OtherAlgorithmsAndProblemsAreRefusedWithTheReason) {
    explore_and_log();
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--algorithm", "hoeffding"},
                   "fixed before the data were seen");
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--algorithm", "luck"}, "luck");
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--delta", "1"}, "--delta");
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--fit-level", "1"}, "--fit-level");
    expect_refused({"--episodes", "none.jsonl", "-o", "run"}, "none.jsonl");
    expect_refused({"-o", "run"}, "--episodes");
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--misspecification", "1"}, "--misspecification");
    expect_refused({"--episodes", "log.jsonl", "-o", "run", "--reach", "far"}, "reach is 'far'");
    EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(Learn, BadEpisodesAreBadInputAndImpossibleOnesAContradiction) {
    write_text(path("bad.jsonl"), "{\"states\": [0, 9], \"actions\": [0, 0]}\n");
    expect_refused({"--episodes", "bad.jsonl", "-o", "run"}, "bad.jsonl:1: \"states\", step 1: is 9");
    write_text(path("start.jsonl"), "{\"states\": [1, 1], \"actions\": [0, 0]}\n");
    expect_refused({"--episodes", "start.jsonl", "-o", "run"}, "starts in state 1");
    // Three of six states can follow (0, 0): find one that cannot.
    ASSERT_EQ(explore("explored").code, 0);
    const detail::RunStore store = detail::RunStore::open(path("explored"), Access::read);
    State impossible = 0;
    while (store.problem().features().find_entry(0, impossible) >= 0) ++impossible;
    write_text(path("log.jsonl"), fmt::format("{{\"states\": [0, {}], \"actions\": [0]}}\n", impossible));
    expect_refused({"--episodes", "log.jsonl", "-o", "run"},
                   fmt::format("log.jsonl:1: step 0: state 0, action 0 led to state {}", impossible), 4);
    const Outcome outcome = learn("run");
    EXPECT_EQ(outcome.code, 4);
    expect_keys(outcome.object()["error"], {"what", "where", "why", "fix"});
    EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(Learn, ALogThatNoMixtureExplainsIsStoredWithExitCodeFour) {
    ASSERT_EQ(explore("explored").code, 0);
    const detail::RunStore store = detail::RunStore::open(path("explored"), Access::read);
    // Always the same of three successors, the one that no base model favours.
    const FeatureMap& features = store.problem().features();
    Index rarest = features.first_entry(0);
    for (Index entry = rarest; entry < features.first_entry(1); ++entry)
        if (std::ranges::max(features.phi(entry)) < std::ranges::max(features.phi(rarest))) rarest = entry;
    ASSERT_LT(std::ranges::max(features.phi(rarest)), 0.9);
    write_text(path("log.jsonl"), fmt::format("{{\"states\": [0, {}], \"actions\": [0], \"count\": 1500}}\n",
                                              features.targets()[at(rarest)]));
    const Outcome learned = learn("run");
    EXPECT_EQ(learned.code, 4) << learned.out;
    const json check = learned.object()["model_check"];
    EXPECT_TRUE(check["contradicted"]);
    EXPECT_GE(check["log_evidence"], check["threshold"]);
    EXPECT_EQ(check["worst"]["step"], 0);
    EXPECT_EQ(check["worst"]["state"], 0);
    EXPECT_EQ(check["worst"]["action"], 0);
    EXPECT_EQ(check["worst"]["visits"], 1500);
    EXPECT_EQ(check["worst"]["seen"], 1500);
    EXPECT_EQ(run({"certify", "run"}).code, 4);
    EXPECT_EQ(run({"certify", "run", "--fit-level", "0"}).code, 4);
    write_text(path("reward.json"), R"({"default": 0.5})");
    const Outcome plan = run({"plan", "run", "--reward", "reward.json"});
    EXPECT_EQ(plan.code, 4);
    EXPECT_NE(plan.err.find("contradict the mixture"), std::string::npos) << plan.err;
    EXPECT_FALSE(run({"certify", "run", "--fit-level", "0", "--json"}).object().contains("model_check"));
    EXPECT_EQ(learn("run", {"--overwrite", "--fit-level", "0"}).code, 0);
    const Outcome text = run({"learn", small_problem, "--episodes", "log.jsonl", "-o", "text"});
    EXPECT_NE(text.out.find("CONTRADICT"), std::string::npos) << text.out;
    EXPECT_NE(text.out.find("Worst: step 0"), std::string::npos) << text.out;
}

TEST_F(Learn, EveryAlgorithmIsChecked) {
    for (const char* algorithm : {"hoeffding", "likelihood", "uniform"}) {
        const json explored = explore(algorithm, {"--algorithm", algorithm}).object();
        ASSERT_TRUE(explored.contains("model_check")) << algorithm;
        expect_keys(explored["model_check"],
                    {"log_evidence", "threshold", "level", "contradicted", "kt", "unseen", "best", "worst"});
        EXPECT_FALSE(explored["model_check"]["contradicted"]) << algorithm;
        EXPECT_EQ(run({"certify", algorithm, "--json"}).object()["model_check"], explored["model_check"]);
    }
    // A problem that admits to be misspecified is checked as well, and not contradicted by being off.
    const json aggregated =
        run({"explore", "builtin:reservoir", "-o", "reservoir", "--episodes", "50", "--json"}).object();
    EXPECT_TRUE(aggregated.contains("model_check"));
    EXPECT_FALSE(aggregated.contains("contradiction"));
    EXPECT_FALSE(explore("off", {"--fit-level", "0"}).object().contains("model_check"));
    EXPECT_EQ(explore("bad", {"--fit-level", "-0.1"}).code, 2);
}

TEST_F(Learn, PooledStepsAreCheckedTogether) {
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0);
    std::string toml = text_of(path("folder/problem.toml"));
    const std::string apart = "homogeneous = false";
    ASSERT_NE(toml.find(apart), std::string::npos) << toml;
    write_text(path("folder/problem.toml"),
               toml.replace(toml.find(apart), apart.size(), "homogeneous = true"));
    write_text(path("folder/truth.json"), R"({"weights": [[0.2, 0.3, 0.5]]})");
    const Outcome explored = run({"explore", "folder", "-o", "run", "--episodes", "5000", "--json"});
    ASSERT_EQ(explored.code, 0) << explored.err;
    const json check = explored.object()["model_check"];
    EXPECT_NEAR(check["threshold"].get<double>(), std::log(100.0), 1e-12);
    EXPECT_FALSE(check["contradicted"]);
    EXPECT_TRUE(check["worst"].contains("step"));
    // Logs of a system whose weights change with the step are no mixture with one set of weights.
    explore_and_log();
    const Outcome learned = run({"learn", "folder", "--episodes", "log.jsonl", "-o", "logs", "--json"});
    EXPECT_EQ(learned.code, 4) << learned.out;
}

}  // namespace
}  // namespace alidade::testing
