#include <chrono>
#include <cmath>
#include <optional>

#include "alidade/files/reward_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

class Commands : public Tool {};

TEST_F(Commands, VersionNamesTheLibraries) {
    const Outcome plain = run({"--version"});
    EXPECT_EQ(plain.code, 0);
    EXPECT_TRUE(plain.out.starts_with("alidade "));
    const json object = run({"--version", "--json"}).object();
    expect_keys(object, {"version", "compiler", "build_type", "libraries"});
    expect_keys(object["libraries"], {"Eigen", "fmt", "SQLite", "libarchive", "TBB"});
}

TEST_F(Commands, HelpNamesEveryCommandAndOption) {
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    for (const char* name : {"demo", "problem", "check", "explore", "plan", "certify", "check-certificate",
                             "audit", "reward", "bound"}) {
        EXPECT_NE(help.out.find(name), std::string::npos) << name;
        const Outcome own = run({name, "--help"});
        EXPECT_EQ(own.code, 0) << name;
        EXPECT_EQ(own.err, "") << name;
    }
    EXPECT_NE(run({"explore", "--help"}).out.find("--replan"), std::string::npos);
}

TEST_F(Commands, ProblemListShowsFamiliesAndTheirParameters) {
    const json families = run({"problem", "list", "--json"}).object()["families"];
    EXPECT_GE(families.size(), 5u);
    for (const json& family : families) {
        expect_keys(family, {"name", "summary", "parameters"});
        EXPECT_NE(run({"problem", "list"}).out.find(family["name"].get<std::string>()), std::string::npos);
    }
    const Outcome one = run({"problem", "list", "inventory"});
    EXPECT_EQ(one.code, 0);
    EXPECT_NE(one.out.find("capacity"), std::string::npos);
    EXPECT_EQ(run({"problem", "list", "nothing"}).code, 2);
}

TEST_F(Commands, ProblemShowGivesTheSizes) {
    const json object = run({"problem", "show", small_problem, "--json"}).object();
    EXPECT_EQ(object["states"], 6);
    EXPECT_EQ(object["actions"], 2);
    EXPECT_EQ(object["horizon"], 4);
    EXPECT_EQ(object["features"], 3);
    EXPECT_EQ(object["max_successors"], 3);
    EXPECT_EQ(object["transitions"], 6 * 2 * 3);
    EXPECT_EQ(object["truth_known"], true);
    EXPECT_EQ(run({"problem", "show", small_problem}).code, 0);
}

TEST_F(Commands, AnAggregatedProblemSaysHowFarOffItIs) {
    const std::string problem = "builtin:reservoir?cells=25&horizon=3";
    const std::string words = "off by at most 0.04 in total variation";
    for (const std::vector<std::string>& command : {std::vector<std::string>{"problem", "show"}, {"check"}}) {
        std::vector<std::string> here = command, there = command;
        here.push_back(problem);
        there.push_back(small_problem);
        EXPECT_NE(run(here).out.find(words), std::string::npos) << command.back();
        EXPECT_EQ(run(there).out.find("off by"), std::string::npos) << command.back();
        here.push_back("--json");
        there.push_back("--json");
        EXPECT_NEAR(run(here).object()["misspecification"].get<double>(), 0.04, 1e-15);
        EXPECT_EQ(run(there).object()["misspecification"], 0);
    }
}

TEST_F(Commands, AMadeProblemIsTheSameProblem) {
    ASSERT_EQ(run({"problem", "make", "builtin:inventory", "-o", "house"}).code, 0);
    const json built_in = run({"problem", "show", "builtin:inventory", "--json"}).object();
    const json made = run({"problem", "show", "house", "--json"}).object();
    EXPECT_EQ(made["hash"], built_in["hash"]);
    EXPECT_EQ(made["rewards"], built_in["rewards"]);
    EXPECT_EQ(run({"problem", "make", "builtin:inventory", "-o", "house"}).code, 2);
    EXPECT_EQ(run({"problem", "make", "builtin:inventory", "-o", "house", "--overwrite"}).code, 0);
    EXPECT_EQ(run({"check", "house"}).code, 0);
}

TEST_F(Commands, AMappedProblemGivesTheSameBytes) {
    std::string answer;
    std::optional<RunCheckpoint> first;
    for (const std::string layout : {"--quiet", "--mapped"}) {
        const std::string house = "house" + layout, run_folder = "run" + layout;
        ASSERT_EQ(run({"problem", "make", "builtin:inventory", "-o", house, layout}).code, 0);
        EXPECT_EQ(std::filesystem::exists(path(house + "/features/values.npy")), layout == "--mapped");
        ASSERT_EQ(run({"explore", house, "-o", run_folder, "--episodes", "300", "--quiet"}).code, 0);
        const alidade::Run stored = alidade::Run::open(path(run_folder), Access::read);
        const RunCheckpoint now = *stored.checkpoint();
        json object = run({"certify", run_folder, "--json"}).object();
        object.erase("seconds");
        if (!first) {
            first = now;
            answer = object.dump();
        }
        EXPECT_EQ(stored.problem_hash(), problem_hash(make_builtin("builtin:inventory")));
        EXPECT_TRUE(now.memory == first->memory);
        EXPECT_TRUE(now.counts == first->counts);
        EXPECT_EQ(object.dump(), answer);
    }
    EXPECT_EQ(run({"problem", "make", "builtin:linear-lock", "-o", "lock", "--mapped"}).code, 2);
    EXPECT_EQ(run({"problem", "make", "builtin:inventory", "-o", "one", "--mapped", "--one-hot"}).code, 2);
}

TEST_F(Commands, CheckSaysWhatIsReachable) {
    const json object = run({"check", small_problem, "--json"}).object();
    expect_keys(object, {"usable", "row_sums", "reachable_states", "ranks", "unreachable_states", "rank",
                         "dimension", "weights_identifiable", "memory_bytes", "replan_seconds"});
    EXPECT_EQ(object["reachable_states"][0], 1);
    EXPECT_EQ(object["dimension"], 2);
    EXPECT_EQ(run({"check", small_problem}).code, 0);
}

TEST_F(Commands, CheckSaysHowLongSignedFeaturesAndWeightsAre) {
    const json hard = run({"check", "builtin:hard", "--json"}).object()["norms"];
    expect_keys(
        hard, {"largest_feature", "features_are_unit", "norm_bound", "scaled_norm_bound", "largest_weights"});
    EXPECT_EQ(hard["features_are_unit"], true);
    EXPECT_LE(hard["largest_feature"][1], 1);
    EXPECT_LE(hard["largest_weights"], hard["norm_bound"]);
    EXPECT_NE(run({"check", "builtin:hard"}).out.find("at most 1 as the theorems have it"),
              std::string::npos);
    EXPECT_FALSE(run({"check", small_problem, "--json"}).object().contains("norms"));

    // |phi_V| is the root of 0.5^2 + 2^2 at V = (1, 0); |theta| is that of 1.01.
    ProblemDescription parts;
    parts.name = "long";
    parts.features = std::make_shared<const FeatureMap>(
        FeatureMap::from_features({.states = 2,
                                   .actions = 1,
                                   .features = 2,
                                   .offsets = {0, 2, 4},
                                   .targets = {0, 1, 0, 1},
                                   .values = {.5, 2, .5, -2, .5, 1, .5, -1},
                                   .norm_bound = 1.25}));
    parts.horizon = 3;
    parts.truth = Matrix(3, 2);
    for (Step h = 0; h < 3; ++h) parts.truth->row(h) << 1, 0.1;
    save_problem(Problem(parts), path("long"));
    const Outcome said = run({"check", "long"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.out.find("2.06155"), std::string::npos) << said.out;
    EXPECT_NE(said.out.find("More than the 1 that the theorems have, at state 0, action 0"),
              std::string::npos)
        << said.out;
    const json norms = run({"check", "long", "--json"}).object()["norms"];
    EXPECT_EQ(norms["features_are_unit"], false);
    EXPECT_NEAR(norms["scaled_norm_bound"].get<double>(), 1.25 * std::sqrt(4.25), 1e-9);
    EXPECT_NEAR(norms["largest_weights"].get<double>(), std::sqrt(1.01), 1e-12);
    // The theorems' B is that of features divided by their length.
    EXPECT_NEAR(run({"bound", "long", "--epsilon", "1", "--json"}).object()["norm_bound"].get<double>(),
                1.25 * std::sqrt(4.25), 1e-9);
}

// Only what a replan costs was measured on all ten million steps, in minutes and gigabytes.
TEST_F(Commands, CheckAnswersAbsurdSizesAtOnce) {
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "folder"}).code, 0);
    std::string toml = text_of(path("folder/problem.toml"));
    const auto replace = [&](const std::string& from, const std::string& to) {
        ASSERT_NE(toml.find(from), std::string::npos) << toml;
        toml.replace(toml.find(from), from.size(), to);
    };
    replace("horizon = 4", "horizon = 2000000000");
    replace("[environment]", "");
    replace("weights = \"truth.json\"", "");
    write_text(path("folder/problem.toml"), toml);
    const auto begin = std::chrono::steady_clock::now();
    const Outcome checked = run({"check", "folder"});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_NE(checked.out.find("more than the"), std::string::npos) << checked.out;
    EXPECT_NE(checked.out.find("judged by"), std::string::npos) << checked.out;
    EXPECT_GT(run({"check", "folder", "--json"}).object()["memory_bytes"], 1e12);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(Commands, PlanCertifiesAndItsPolicyCertifiesTheSame) {
    ASSERT_EQ(run({"explore", inventory(), "-o", "run", "--episodes", "1e4", "--quiet"}).code, 0);
    const Outcome planned = run({"plan", "run", "--reward", "balanced", "-o", "plan.json", "--json"});
    ASSERT_EQ(planned.code, 0) << planned.err;
    const json plan = planned.object();
    expect_keys(plan, {"value_lower", "value_upper", "optimal_upper", "loss_bound", "methods", "planner",
                       "policy", "seconds"});
    EXPECT_LE(plan["value_lower"], plan["value_upper"]);
    EXPECT_EQ(plan["policy"].size(), 7u);
    const json again =
        run({"certify", "run", "--reward", "balanced", "--policy", "plan.json", "--json"}).object();
    for (const char* key : {"value_lower", "value_upper", "optimal_upper", "loss_bound", "methods"})
        EXPECT_EQ(again[key], plan[key]) << key;
    const Outcome short_sighted =
        run({"plan", "run", "--reward", "balanced", "--planner", "lookahead", "--json"});
    EXPECT_GE(short_sighted.object()["loss_bound"], 0);
    EXPECT_EQ(run({"plan", "run", "--reward", "balanced"}).code, 0);
}

TEST_F(Commands, RescaledRewardsScaleTheBoundsBack) {
    ASSERT_EQ(explore("run").code, 0);
    const std::string unit = R"({"default": 0, "entries": [{"state": 1, "reward": 1}]})";
    const std::string wide = R"({"default": -2, "entries": [{"state": 1, "reward": 8}]})";
    write_text(path("unit.json"), unit);
    write_text(path("wide.json"), wide);
    const json plain = run({"plan", "run", "--reward", "unit.json", "--json"}).object();
    EXPECT_EQ(run({"plan", "run", "--reward", "wide.json", "--json"}).code, 2);
    const json scaled = run({"plan", "run", "--reward", "wide.json", "--rescale", "--json"}).object();
    const double loss = plain["loss_bound"], lower = plain["value_lower"];
    EXPECT_NEAR(scaled["loss_bound"], 10 * loss, 1e-9);
    EXPECT_NEAR(scaled["value_lower"], 4 * -2 + 10 * lower, 1e-9);
    EXPECT_EQ(scaled["rescaled"]["scale"], 10);
}

TEST_F(Commands, CertifyRecomputesWhatExploreReported) {
    const json explored = explore("run").object();
    const Outcome certified = run({"certify", "run", "--json"});
    ASSERT_EQ(certified.code, 0) << certified.err;
    const json object = certified.object();
    for (const char* key : {"reward_free", "vacuous", "method", "candidates"})
        EXPECT_EQ(object[key], explored["certificate"][key]) << key;
    EXPECT_EQ(object["agrees"], true);
    EXPECT_EQ(object["contributions"], explored["contributions"]);
    EXPECT_EQ(run({"certify", "run"}).code, 0);
    EXPECT_EQ(run({"certify", "run", "--reward", "x.json"}).code, 2);
}

TEST_F(Commands, AuditFindsNoViolation) {
    ASSERT_EQ(explore("run").code, 0);
    const Outcome audited = run({"audit", "run", "--rewards", "30", "--climb", "20", "--json"});
    ASSERT_EQ(audited.code, 0) << audited.err;
    const json object = audited.object();
    expect_keys(object, {"rewards", "max_gap", "mean_gap", "violations", "reward_free_certificate",
                         "truth_in_confidence_set"});
    EXPECT_EQ(object["violations"], 0);
    EXPECT_LE(object["max_gap"], object["reward_free_certificate"]);
    EXPECT_EQ(run({"audit", "run", "--rewards", "30", "--climb", "20"}).code, 0);
}

TEST_F(Commands, DemoPlansThreeRewardsWithTwoPlannersAndWritesItsReport) {
    const Outcome demo = run({"demo", "--json"});
    ASSERT_EQ(demo.code, 0) << demo.err;
    const json object = demo.object();
    expect_keys(object, {"algorithm", "certificate", "weights", "seconds", "run", "plans"});
    EXPECT_LE(object["certificate"]["reward_free"], 0.2 * 7);
    ASSERT_EQ(object["plans"].size(), 6u);
    for (const json& plan : object["plans"]) {
        EXPECT_LE(plan["true_loss"], plan["loss_bound"]);
        EXPECT_LE(plan["value_lower"], plan["true_value"]);
        EXPECT_GE(plan["value_upper"], plan["true_value"]);
    }
    EXPECT_TRUE(std::filesystem::exists(path("report.html")));
    EXPECT_EQ(run({"certify", "alidade-demo"}).code, 0);
    // A second demo replaces its own report and run. Under sanitizers it would meet the same faults again.
    if (!support::effort_is("sanitized")) {
        EXPECT_EQ(comparable(run({"demo", "--json"}).object()), comparable(object));
    }
}

TEST_F(Commands, DemoReplacesNothingOfOthers) {
    write_text(path("report.html"), "precious\n");
    EXPECT_EQ(run({"demo"}).code, 2);
    EXPECT_EQ(text_of(path("report.html")), "precious\n");
    ASSERT_EQ(explore("alidade-demo").code, 0);
    EXPECT_EQ(run({"demo", "-o", "other.html"}).code, 2);
    EXPECT_EQ(run({"certify", "alidade-demo"}).code, 0);
}

}  // namespace
}  // namespace alidade::testing
