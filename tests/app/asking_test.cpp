#include <gtest/gtest.h>

#include <filesystem>

#include "tool.hpp"

namespace alidade::testing::asking_app {
namespace {

class Asking : public Tool {
protected:
    void SetUp() override {
        Tool::SetUp();
        ASSERT_EQ(run({"problem", "make", "builtin:riverswim?variant=halves", "-o", "river"}).code, 0);
    }

    Outcome prepare(const std::string& name, const Words& more = {}) const {
        Words words{"explore", "river", "-o", name, "--system", "ask", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    void expect_refused(const Words& words, const std::string& what, int code = 2) const {
        const Outcome refused = run(words);
        EXPECT_EQ(refused.code, code) << words.front() << "\n" << refused.out << refused.err;
        EXPECT_NE(refused.err.find(what), std::string::npos) << refused.err;
        for (const char* part : {"error: ", "where: ", "why: ", "fix: "})
            EXPECT_NE(refused.err.find(part), std::string::npos) << part << refused.err;
    }
};

TEST_F(Asking, AnEpisodeByHand) {
    EXPECT_EQ(prepare("run").object().at("system"), "ask");
    const json asked = run({"ask", "run", "--worker", "me", "--json"}).object();
    ASSERT_EQ(asked.at("experiments").size(), 1U);
    const json& experiment = asked.at("experiments")[0];
    expect_keys(experiment, {"id", "episodes", "first_episode", "horizon", "policy", "due"});
    EXPECT_EQ(experiment.at("policy").size(), 12U);
    json states = json::array({0}), actions = json::array();
    for (int h = 0; h < 12; ++h) {
        const json act =
            run({"act", "run", "1", "--step", std::to_string(h), "--state", "0", "--json"}).object();
        EXPECT_EQ(act.at("action"), experiment.at("policy")[static_cast<std::size_t>(h)][0]);
        actions.push_back(act.at("action"));
        if (h > 0) states.push_back(0);  // it stays where it is
    }
    write_text(path("day.jsonl"), json{{"states", states}, {"actions", actions}}.dump() + "\n");
    const Outcome told = run({"tell", "run", "1", "--episodes", "day.jsonl", "--json"});
    ASSERT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(told.object().at("off_policy"), 0);
    EXPECT_TRUE(run({"tell", "run", "1", "--episodes", "day.jsonl", "--json"}).object().at("repeated"));
    write_text(path("other.jsonl"), R"({"states": [0, 1], "actions": [1, 1]})"
                                    "\n");
    expect_refused({"tell", "run", "1", "--episodes", "other.jsonl"}, "not the same");
    const json status = run({"status", "run", "--json"}).object();
    EXPECT_EQ(status.at("episodes").at("told"), 1);
    EXPECT_EQ(status.at("repeated_answers").at("different"), 1);
    const json log = run({"log", "run", "--json"}).object();
    EXPECT_EQ(log.at("experiments")[0].at("worker"), "me");
    EXPECT_EQ(log.at("experiments")[0].at("parts")[0].at("source"), "day.jsonl");
    for (const char* command : {"status", "log", "replay"})
        EXPECT_EQ(run({command, "run"}).code, 0) << command;
    EXPECT_EQ(run({"certify", "run"}).code, 0);
}

TEST_F(Asking, PoliciesMayBeFiles) {
    prepare("run");
    const json asked = run({"ask", "run", "--policies", "policies", "--json"}).object();
    EXPECT_TRUE(std::filesystem::exists(path(asked.at("experiments")[0].at("policy_file"))));
}

TEST_F(Asking, TablesOfTransitionsAreToldByNameAndColumn) {
    prepare("run");
    run({"ask", "run"});
    write_text(path("day.csv"), "day,t,place,did,then\nmonday,0,0,right,1\nmonday,1,1,right,1\n");
    const Outcome told = run({"tell", "run", "1", "--episodes", "day.csv", "--columns",
                              "episode=day,step=t,state=place,action=did,next_state=then", "--json"});
    ASSERT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(told.object().at("transitions"), 2);
    expect_refused({"tell", "run", "1", "--episodes", "day.csv"}, "no column 'episode'");
}

TEST_F(Asking, WhatCannotBeIsRefusedInFourParts) {
    ASSERT_EQ(run({"explore", "river", "-o", "simulated", "--episodes", "200"}).code, 0);
    expect_refused({"ask", "simulated"}, "its system is simulated");
    for (const char* command : {"status", "log", "replay"})
        expect_refused({command, "simulated"}, "keeps no episodes");
    expect_refused({"export", "simulated", "--as", "episodes", "-o", "all.jsonl"}, "keeps no episodes");
    expect_refused({"ask", "nowhere"}, "no such folder");
    prepare("run");
    run({"ask", "run"});
    write_text(path("two.jsonl"), R"({"states": [0, 1], "actions": [1]})"
                                  "\n"
                                  R"({"states": [0, 0], "actions": [1]})"
                                  "\n");
    expect_refused({"tell", "run", "1", "--episodes", "two.jsonl"}, "which wants 1");
    expect_refused({"tell", "run", "9", "--episodes", "two.jsonl"}, "no experiment 9");
    expect_refused({"tell", "run", "1"}, "neither --episodes nor --failed");
    expect_refused({"tell", "run", "--episodes", "two.jsonl"}, "neither an experiment nor --unasked");
    expect_refused({"tell", "run", "1", "--unasked", "--episodes", "two.jsonl"}, "both an experiment and");
    expect_refused({"tell", "run", "1", "--episodes", "none.jsonl"}, "none.jsonl");
    expect_refused({"act", "run", "1", "--step", "12", "--state", "0"}, "--step is 12");
    expect_refused({"act", "run", "1", "--step", "0", "--state", "10"}, "--state is '10'");
    expect_refused({"act", "run", "7", "--step", "0", "--state", "0"}, "no experiment 7");
    EXPECT_EQ(run({"status", "run", "--json"}).object().at("episodes").at("told"), 0);
    prepare("regression", {"--algorithm", "hoeffding"});
    expect_refused({"tell", "regression", "--unasked", "--episodes", "two.jsonl"},
                   "must be fixed before the data");
    EXPECT_EQ(run({"tell", "run", "--unasked", "--episodes", "two.jsonl"}).code, 0);
    EXPECT_EQ(run({"tell", "run", "1", "--failed", "no boat"}).code, 0);
    EXPECT_EQ(run({"status", "run", "--json"}).object().at("failed"), 1);
}

TEST_F(Asking, LogsMayComeFirst) {
    prepare("run");
    write_text(path("log.jsonl"), R"({"states": [0, 1], "actions": [1], "count": 40})"
                                  "\n");
    const Words words{"learn", "river", "--episodes", "log.jsonl", "-o", "run", "--fit-level", "0"};
    expect_refused(words, "a run that is explored");
    Words claimed = words;
    claimed.emplace_back("--same-system");
    EXPECT_EQ(run(claimed).code, 0);
    // Of 40 episodes more than one is a tenth.
    const json asked = run({"ask", "run", "--chunk", "10", "--json"}).object();
    EXPECT_EQ(asked.at("experiments").size(), 4U);
    EXPECT_EQ(run({"status", "run", "--json"}).object().at("episodes").at("taken_up"), 40);
    EXPECT_EQ(run({"replay", "run"}).code, 0);
}

TEST_F(Asking, ATransitionThatNobodyCanMakeIsKeptAndSaid) {
    prepare("run");
    run({"ask", "run"});
    write_text(path("day.jsonl"), R"({"states": [0, 9], "actions": [1]})"
                                  "\n");
    const Outcome told = run({"tell", "run", "1", "--episodes", "day.jsonl", "--json"});
    EXPECT_EQ(told.code, 4) << told.err;
    EXPECT_EQ(told.object().at("contradiction").at("kind"), "impossible-transition");
    EXPECT_EQ(run({"ask", "run"}).code, 4);
    EXPECT_EQ(run({"ask", "run", "--despite-contradiction"}).code, 0);
    EXPECT_TRUE(run({"status", "run", "--json"}).object().at("contradicted"));
}

}  // namespace
}  // namespace alidade::testing::asking_app
