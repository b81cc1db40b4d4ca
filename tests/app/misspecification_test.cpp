#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tool.hpp"

// Truths that may be off their mixture, as a user tells the tool about them.
namespace alidade::testing {
namespace {

constexpr const char* garnet_off =
    "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3&seed=3";

class Misspecification : public Tool {
protected:
    std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    Outcome explore(const std::string& folder, const std::vector<std::string>& flags = {}) {
        return run(with({"explore", garnet_off, "-o", folder, "--episodes", "3000", "--json"}, flags));
    }
    /// Episodes of an explored run as a log, and one that no base model explains.
    void write_log(const std::string& file, bool elsewhere) {
        std::string log;
        for (int k = 0; k < 200; ++k) log += "{\"states\": [0], \"actions\": [0]}\n";
        if (elsewhere) log += "{\"states\": [0, " + std::to_string(impossible()) + "], \"actions\": [0]}\n";
        write_text(path(file), log);
    }
    /// A state that does not follow state 0 and action 0.
    int impossible() {
        for (int s = 0; s < 6; ++s) {
            write_text(path("try.jsonl"), "{\"states\": [0, " + std::to_string(s) + "], \"actions\": [0]}\n");
            const Outcome tried =
                run({"learn", garnet_off, "--episodes", "try.jsonl", "-o", "tried", "--overwrite", "--json"});
            if (tried.code == 4) return s;
        }
        ADD_FAILURE() << "everything is possible";
        return 0;
    }
};

TEST_F(Misspecification, IsAllowedForAndSaid) {
    const json exact = explore("exact").object(),
               off = explore("off", {"--misspecification", "0.02"}).object();
    EXPECT_FALSE(exact.contains("misspecification"));
    EXPECT_EQ(off["misspecification"]["assumed"], 0.02);
    EXPECT_EQ(off["misspecification"]["reach"], "anywhere");
    EXPECT_GT(off["certificate"]["reward_free"], exact["certificate"]["reward_free"]);
    EXPECT_FALSE(off["model_check"]["contradicted"])
        << "a truth that may be off is not contradicted by being so";
    // The run remembers; certify and plan say the same, and can assume something else.
    const json again = run({"certify", "off", "--json"}).object();
    EXPECT_EQ(again["reward_free"], off["certificate"]["reward_free"]);
    EXPECT_TRUE(again["agrees"]);
    EXPECT_EQ(again["misspecification"]["assumed"], 0.02);
    const json more = run({"certify", "off", "--misspecification", "0.1", "--json"}).object();
    EXPECT_GT(more["reward_free"], again["reward_free"]);
    EXPECT_TRUE(more["stored"].is_null());
    const json near = run({"certify", "off", "--reach", "support", "--json"}).object();
    EXPECT_LE(near["reward_free"], again["reward_free"]);
    EXPECT_EQ(near["misspecification"]["reach"], "support");
    const json wide = run({"plan", "off", "--reward", "dense?seed=1", "--json"}).object(),
               narrow = run({"plan", "exact", "--reward", "dense?seed=1", "--json"}).object();
    EXPECT_GT(wide["loss_bound"], narrow["loss_bound"]);
    EXPECT_EQ(wide["misspecification"]["assumed"], 0.02);
    EXPECT_FALSE(narrow.contains("misspecification"));
    // Going on with other assumptions is another run.
    EXPECT_EQ(explore("off").code, 2);
    EXPECT_EQ(explore("off", {"--misspecification", "0.02"}).code, 0);
    const std::string words = run({"explore", garnet_off, "-o", "off", "--misspecification", "0.02",
                                   "--episodes", "3000", "--quiet"})
                                  .out;
    EXPECT_NE(words.find("off its mixture by 0.02"), std::string::npos) << words;
    EXPECT_NE(words.find("If the model is off by 1 %: certificate"), std::string::npos) << words;
}

TEST_F(Misspecification, ATransitionThatNoBaseModelMakesIsDataWhereItMayHappen) {
    write_log("log.jsonl", true);
    const std::vector<std::string> learn{"learn", garnet_off, "--episodes", "log.jsonl", "--json"};
    EXPECT_EQ(run(with(learn, {"-o", "none"})).code, 4);
    EXPECT_FALSE(std::filesystem::exists(path("none")));
    EXPECT_EQ(run(with(learn, {"-o", "none", "--misspecification", "0.05", "--reach", "support"})).code, 4);
    EXPECT_FALSE(std::filesystem::exists(path("none")));
    const Outcome learned = run(with(learn, {"-o", "logs", "--misspecification", "0.05"}));
    ASSERT_EQ(learned.code, 0) << learned.err;
    EXPECT_EQ(learned.object()["transitions"], 1);
    EXPECT_EQ(learned.object()["misspecification"]["assumed"], 0.05);
    EXPECT_EQ(run({"replay", "logs", "--json"}).code, 0);
    EXPECT_EQ(run({"certify", "logs", "--json"}).code, 0);
    // What would exclude it is refuted.
    const Outcome exact = run({"certify", "logs", "--misspecification", "0", "--json"});
    EXPECT_EQ(exact.code, 4) << exact.out;
    EXPECT_EQ(run({"certify", "logs", "--reach", "support", "--json"}).code, 4);
    const json curve = run({"certify", "logs", "--sensitivity", "0,0.01", "--json"}).object()["sensitivity"];
    ASSERT_EQ(curve["points"].size(), 2u);
    EXPECT_TRUE(curve["points"][0]["refuted"]);
    EXPECT_FALSE(curve["points"][1]["refuted"]);
    // More logs are added under what the run assumes, and no other.
    write_log("more.jsonl", true);
    EXPECT_EQ(run({"learn", garnet_off, "--episodes", "more.jsonl", "-o", "logs", "--json"}).code, 0);
    EXPECT_EQ(run({"learn", garnet_off, "--episodes", "more.jsonl", "-o", "logs", "--misspecification", "0.1",
                   "--json"})
                  .code,
              2);
}

TEST_F(Misspecification, SensitivityIsACurveAndABreakdownPoint) {
    ASSERT_EQ(explore("run").code, 0);
    const json found = run({"plan", "run", "--reward", "dense?seed=1", "--sensitivity", "--tolerance", "0.3",
                            "-o", "plan.json", "--json"})
                           .object()["sensitivity"];
    EXPECT_EQ(found["tolerance"], 0.3);
    ASSERT_EQ(found["points"].size(), 8u);
    double last = -1;
    for (const json& point : found["points"]) {
        EXPECT_GE(point["loss_bound"].get<double>(), last);
        last = point["loss_bound"];
        EXPECT_LE(point["value_lower"], point["value_upper"]);
        EXPECT_LE(point["loss_bound"], point["reward_free"]);
        EXPECT_TRUE(point["zeta"] > found["breakdown"] || point["loss_bound"] <= 0.3) << point;
    }
    EXPECT_GT(found["breakdown"], 0);
    // The same of the policy from its file; without a reward, of all of them.
    const json certified = run({"certify", "run", "--reward", "dense?seed=1", "--policy", "plan.json",
                                "--sensitivity", "--json"})
                               .object()["sensitivity"];
    EXPECT_EQ(certified["points"], found["points"]);
    const json free = run({"certify", "run", "--sensitivity", "0.05,0.01", "--json"}).object()["sensitivity"];
    ASSERT_EQ(free["points"].size(), 2u);
    EXPECT_EQ(free["points"][0]["zeta"], 0.01);
    EXPECT_LE(free["points"][0]["reward_free"], free["points"][1]["reward_free"]);
    EXPECT_TRUE(free["breakdown"].is_null());
    const std::string words = run({"certify", "run", "--sensitivity"}).out;
    EXPECT_NE(words.find("no estimate of how far off"), std::string::npos) << words;
    const std::string plan = run({"plan", "run", "--reward", "dense?seed=1", "--tolerance", "0.3"}).out;
    EXPECT_NE(plan.find("If the model is off by 1 %: value ["), std::string::npos) << plan;
    EXPECT_NE(plan.find("The plan stays within 0.3 of optimal as long as"), std::string::npos) << plan;
}

TEST_F(Misspecification, BadFlagsAreBadInput) {
    ASSERT_EQ(explore("run").code, 0);
    for (const std::vector<std::string>& bad : {std::vector<std::string>{"--misspecification", "1"},
                                                {"--misspecification", "-0.1"},
                                                {"--reach", "far"},
                                                {"--sensitivity", "0.1,x"},
                                                {"--sensitivity", "1"},
                                                {"--tolerance", "-1"}}) {
        const Outcome outcome = run(with({"certify", "run"}, bad));
        EXPECT_EQ(outcome.code, 2) << bad[0] << " " << bad[1];
        EXPECT_NE(outcome.err.find(bad[0].substr(2)), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(run({"explore", "builtin:linear-lock", "-o", "linear", "--misspecification", "0.1"}).code, 2);
    EXPECT_EQ(run({"explore", garnet_off, "-o", "weighted", "--confidence", "weighted", "--algorithm",
                   "hoeffding", "--episodes", "100", "--misspecification", "0.1"})
                  .code,
              0);
    const Outcome other = run({"certify", "weighted", "--misspecification", "0.2"});
    EXPECT_EQ(other.code, 2) << "its weights were chosen for what the run assumes";
    EXPECT_NE(other.err.find("weighted"), std::string::npos) << other.err;
}

// A check that found data off the mixture contradicts nothing of truths that may be as far off; those that
// are listed as off are quoted with what must be true for it.
TEST_F(Misspecification, ThatIsAssumedLaterJudgesWhatACheckFound) {
    const Outcome found = run({"explore", std::string(garnet_off) + "&foreign=0.3", "-o", "off", "--episodes",
                               "30000", "--algorithm", "uniform", "--json"});
    ASSERT_EQ(found.code, 4) << found.err;
    const auto object = nlohmann::json::parse(found.out);
    double last = 1;
    for (const auto& row : object["model_check"]["suspects"]) {
        const double within = row["within"];
        EXPECT_GT(within, object["misspecification"]["lower"].get<double>());
        EXPECT_LE(within, last);
        last = within;
    }
    EXPECT_LT(last, 1) << "no row is listed";
    EXPECT_LE(object["misspecification"]["varying"], object["misspecification"]["lower"]);
    EXPECT_EQ(run({"certify", "off", "--json"}).code, 4);
    for (const char* const command : {"certify", "plan"}) {
        std::vector<std::string> words{command, "off", "--misspecification", "0.3", "--json"};
        if (words.front() == "plan") words.insert(words.end(), {"--reward", "dense?seed=1"});
        const Outcome allowed = run(words);
        EXPECT_EQ(allowed.code, 0) << allowed.err;
        EXPECT_FALSE(nlohmann::json::parse(allowed.out).contains("contradiction"));
    }
    EXPECT_EQ(run({"certify", "off", "--misspecification", "0.001", "--json"}).code, 4);
    // What is less than the check has proved is refuted on the curve.
    const Outcome curve = run({"certify", "off", "--sensitivity", "0,0.001,0.3", "--json"});
    const auto points = nlohmann::json::parse(curve.out)["sensitivity"]["points"];
    EXPECT_TRUE(points[0]["refuted"]);
    EXPECT_TRUE(points[1]["refuted"]);
    EXPECT_FALSE(points[2]["refuted"]);
}

}  // namespace
}  // namespace alidade::testing
