#include <gtest/gtest.h>
#include <signal.h>

#include "tool.hpp"

namespace alidade::testing {
namespace {

class PlanCommand : public Tool {
protected:
    void SetUp() override {
        Tool::SetUp();
        ASSERT_EQ(explore("run").code, 0);
        write_text(path("reward.json"),
                   R"({"entries": [{"state": 1, "reward": 1}, {"state": 4, "reward": 0.5}]})");
    }

    Outcome plan(const std::string& planner, const Words& more = {}) const {
        Words words{"plan", "run", "--reward", "reward.json", "--planner", planner, "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    json measured(const std::string& planner, const Words& more = {}) const {
        const Outcome outcome = plan(planner, more);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.object()["measured"];
    }
};

/// A command that writes this text as its policy.
std::string command_writing(const std::string& text) {
    return "cmd:test -s {model} && echo '" + text + "' > {policy}";
}

const std::string first_actions = R"("policy": [[0,0,0,0,0,0],[0,0,0,0,0,0],[0,0,0,0,0,0],[0,0,0,0,0,0]])";

TEST_F(PlanCommand, EveryBuiltInPlannerIsMeasured) {
    const double optimal = measured("backward-induction")["value"];
    for (const char* planner : {"linear-program", "policy-iteration", "uct?simulations=50&seed=2", "rollout",
                                "rollout?depth=2&base=first", "lookahead?depth=1"}) {
        const json found = measured(planner);
        expect_keys(found,
                    {"claimed_value", "claimed_accuracy", "claims_true", "value", "optimal", "epsilon_opt"});
        EXPECT_EQ(found["claims_true"], true) << planner;
        EXPECT_NEAR(found["optimal"], optimal, 1e-12) << planner;
        EXPECT_NEAR(found["optimal"].get<double>() - found["value"].get<double>(), found["epsilon_opt"],
                    1e-12);
    }
    EXPECT_LE(measured("linear-program")["epsilon_opt"], 1e-9);
    EXPECT_TRUE(measured("uct?simulations=5")["claimed_value"].is_null());
    EXPECT_TRUE(measured("lookahead")["claimed_accuracy"].is_null());
    EXPECT_NE(run({"plan", "run", "--reward", "reward.json"}).out.find("learned model"), std::string::npos);
}

TEST_F(PlanCommand, UnknownPlannersAndParametersAreBadInput) {
    for (const char* planner : {"uct?simulation=3", "uct?simulations=0", "oracle", "rollout?base=best",
                                "uct?", "cmd:plan {model}", "cmd:"}) {
        const Outcome outcome = plan(planner);
        EXPECT_EQ(outcome.code, 2) << planner;
        EXPECT_NE(outcome.err.find("--planner"), std::string::npos) << planner;
    }
    EXPECT_NE(plan("uct?simulation=3").err.find("did you mean 'simulations'"), std::string::npos);
    EXPECT_EQ(plan(command_writing("{}"), {"--planner-format", "xls"}).code, 2);
    EXPECT_EQ(plan(command_writing("{}"), {"--planner-timeout", "0"}).code, 2);
}

TEST_F(PlanCommand, RunsAnyCommandAsAPlanner) {
    const json found = measured(command_writing("{" + first_actions + "}"));
    EXPECT_TRUE(found["claimed_value"].is_null());
    EXPECT_EQ(found["claims_true"], true);
    const Outcome kept = plan(command_writing("{" + first_actions + "}"),
                              {"--planner-folder", "kept", "--planner-format", "npz", "-o", "plan.json"});
    EXPECT_EQ(kept.code, 0) << kept.err;
    EXPECT_TRUE(std::filesystem::exists(path("kept/model.npz")));
    // The certificate does not ask where a policy comes from.
    const json again =
        run({"certify", "run", "--reward", "reward.json", "--policy", "plan.json", "--json"}).object();
    EXPECT_EQ(again["loss_bound"], kept.object()["loss_bound"]);
}

TEST_F(PlanCommand, FalseClaimsAreCalledFalse) {
    const Outcome outcome = plan(command_writing("{" + first_actions + R"(, "value": 3.9, "accuracy": 0})"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.object()["measured"]["claims_true"], false);
    EXPECT_NE(outcome.err.find("claim is false"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("3.9"), std::string::npos) << outcome.err;
}

TEST_F(PlanCommand, ACommandThatFailsIsAFailureWithItsLastWords) {
    const Outcome outcome = plan("cmd:echo no licence >&2; exit 7 # {model} {policy}");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("exit status 7"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("no licence"), std::string::npos) << outcome.err;
    const Outcome slow = plan("cmd:sleep 100 # {model} {policy}", {"--planner-timeout", "0.3"});
    EXPECT_EQ(slow.code, 1);
    EXPECT_NE(slow.err.find("0.3 s"), std::string::npos) << slow.err;
}

TEST_F(PlanCommand, WhatIsNoPolicyIsBadInput) {
    for (const char* text : {"nonsense", R"({"policy": [[0]]})", R"({"choices": [1, 2, 3]})"}) {
        const Outcome outcome = plan(command_writing(text));
        EXPECT_EQ(outcome.code, 2) << text;
        EXPECT_NE(outcome.err.find("policy.json"), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(plan("cmd:true {model} {policy}").code, 2);
}

TEST_F(PlanCommand, InterruptionKillsTheCommand) {
    const std::string pid_file = path("pid").string();
    const pid_t tool = start({"plan", "run", "--reward", "reward.json", "--planner",
                              "cmd:echo $$ > " + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                                  "; sleep 100; true {model} {policy}"});
    for (int i = 0; i < 600 && !std::filesystem::exists(pid_file); ++i) usleep(50000);
    ASSERT_TRUE(std::filesystem::exists(pid_file));
    const auto command = static_cast<pid_t>(std::stol(text_of(pid_file)));
    ASSERT_EQ(kill(command, 0), 0);
    kill(tool, SIGINT);
    EXPECT_EQ(wait_for(tool).code, 130);
    EXPECT_NE(kill(command, 0), 0) << "the command still runs";
}

}  // namespace
}  // namespace alidade::testing
