#include <csignal>
#include <thread>

#include "tool.hpp"

namespace alidade::testing {
namespace {

class AtlasTool : public Tool {
protected:
    void explore_garnet() const { ASSERT_EQ(explore("run").code, 0); }
    Outcome atlas(const Words& more) const {
        Words words{"atlas",        "run",         "--objective",
                    "dense?seed=1", "--objective", "sparse?seed=2&density=0.3"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
};

TEST_F(AtlasTool, IsMadeLookedUpAndChecked) {
    explore_garnet();
    const Outcome made = atlas({"--loss", "0.2", "-o", "atlas"});
    EXPECT_EQ(made.code, 0) << made.err;
    for (const char* part :
         {"Atlas of dense?seed=1, sparse", "whatever the weighting of the two", "any reward at all",
          "all lines hold at\n", "alidade atlas policy atlas --weights"})
        EXPECT_NE(made.out.find(part), std::string::npos) << part;
    for (const char* file :
         {"atlas.json", "policies/000.json", "cells.csv", "front.csv", "front.svg", "weights.svg"})
        EXPECT_TRUE(std::filesystem::exists(path("atlas") / file)) << file;
    const json whole = atlas({"--loss", "0.2", "--json", "--full"}).object();
    EXPECT_EQ(comparable(whole)["cells"], json::parse(text_of(path("atlas/atlas.json")))["cells"]);
    EXPECT_LE(whole["loss_bound"].get<double>(), 0.2 + 1e-8);
    EXPECT_EQ(whole["limited_by"], "target");

    const json looked =
        run({"atlas", "policy", "atlas", "--weights", "0.3,0.7", "--run", "run", "-o", "plan.json", "--json"})
            .object();
    expect_keys(looked, {"plan", "loss_bound", "loss_beforehand", "loss_certified", "own_loss", "value_lower",
                         "value_upper", "policy", "delta"});
    EXPECT_LE(looked["loss_beforehand"].get<double>(), whole["loss_bound"].get<double>());
    EXPECT_LE(looked["loss_bound"].get<double>(), looked["loss_beforehand"].get<double>());
    // The plan that is written is the one that was certified, for the weighted reward and no other.
    EXPECT_EQ(json::parse(text_of(path("plan.json")))["policy"], looked["policy"]);
    // Weights that are ten times as large: so are the losses.
    const json larger =
        run({"atlas", "policy", "atlas", "--weights", "sparse?seed=2&density=0.3=7,dense?seed=1=3", "--json"})
            .object();
    EXPECT_EQ(larger["plan"], looked["plan"]);
    EXPECT_NEAR(larger["loss_bound"].get<double>(), 10 * looked["loss_beforehand"].get<double>(), 1e-9);

    const Outcome checked = run({"atlas", "check", "atlas", "run"});
    EXPECT_EQ(checked.code, 0) << checked.out;
    EXPECT_NE(checked.out.find("follow from the run's data"), std::string::npos);
    EXPECT_NE(checked.out.find(" 0 above their bound"), std::string::npos);
}

TEST_F(AtlasTool, ThatWasImprovedByHandIsFoundOut) {
    explore_garnet();
    ASSERT_EQ(atlas({"--loss", "0.2", "-o", "atlas"}).code, 0);
    json document = json::parse(text_of(path("atlas/atlas.json")));
    for (json& cell : document["cells"]) {
        for (json& bound : cell["bounds"]) bound = 0.5 * bound.get<double>();
        cell["loss_bound"] = 0.5 * cell["loss_bound"].get<double>();
    }
    write_text(path("atlas/atlas.json"), document.dump());
    const Outcome lowered = run({"atlas", "check", "atlas", "run"});
    EXPECT_EQ(lowered.code, 1);
    EXPECT_NE(lowered.out.find("DO NOT FOLLOW"), std::string::npos);
    // A hole in the cover is no atlas.
    document["tree"][0] = {{"cell", 0}};
    write_text(path("atlas/atlas.json"), document.dump());
    EXPECT_EQ(run({"atlas", "check", "atlas", "run"}).code, 2);
    EXPECT_EQ(run({"atlas", "policy", "atlas", "--weights", "1,1"}).code, 2);
}

TEST_F(AtlasTool, SaysWhatStandsInTheWay) {
    explore_garnet();
    const Outcome data = atlas({"--loss", "1e-4"});
    EXPECT_EQ(data.code, 3);
    EXPECT_NE(data.out.find("not met; the data allow no less"), std::string::npos);
    EXPECT_NE(data.out.find("roughly"), std::string::npos);
    const Outcome little = atlas({"--loss", "0"});
    EXPECT_EQ(little.code, 0) << little.out;
    EXPECT_NE(little.out.find("as little as possible"), std::string::npos);
    const json budget = atlas({"--loss", "0.01", "--certificates", "3", "--json"}).object();
    EXPECT_EQ(budget["limited_by"], "budget");
}

TEST_F(AtlasTool, MeetsTargetsWithAMixture) {
    explore_garnet();
    ASSERT_EQ(atlas({"--loss", "0.2", "-o", "atlas"}).code, 0);
    const json easy = run({"atlas", "policy", "atlas", "--target", "dense?seed=1=0.1", "--json"}).object();
    EXPECT_TRUE(easy["guaranteed"].get<bool>());
    const Outcome hard = run({"atlas", "policy", "atlas", "--target", "4,4"});
    EXPECT_EQ(hard.code, 3);
    EXPECT_NE(hard.out.find("No policy at all meets the targets"), std::string::npos);
    EXPECT_EQ(run({"atlas", "policy", "atlas", "--target", "5,0"}).code, 2);
}

TEST_F(AtlasTool, RefusesWhatIsNoQuestion) {
    explore_garnet();
    ASSERT_EQ(atlas({"--loss", "0.2", "-o", "atlas"}).code, 0);
    const std::vector<Words> wrong{
        {"atlas"},
        {"atlas", "run"},
        {"atlas", "run", "--objective", "dense"},
        {"atlas", "run", "--objective", "dense", "--objective", "dense"},
        {"atlas", "run", "--objective", "dense", "--minimise", "dense"},
        {"atlas", "run", "--objective", "dense", "--objective", "nothing"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "--loss", "-1"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "--at-least", "dense=2"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "--at-least", "dens=0.2"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "--at-least", "0.2"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "--at-least", "dense=0.6",
         "--at-least", "sparse=0.6"},
        {"atlas", "run", "--objective", "dense", "--objective", "sparse", "-o", "run"},
        {"atlas", "nowhere", "--objective", "dense", "--objective", "sparse"},
        {"atlas", "policy", "atlas"},
        {"atlas", "policy", "atlas", "--weights", "1,1", "--target", "1,1"},
        {"atlas", "policy", "atlas", "--weights", "0,0"},
        {"atlas", "policy", "atlas", "--weights", "-1,2"},
        {"atlas", "policy", "atlas", "--weights", "1,2,3"},
        {"atlas", "policy", "atlas", "--weights", "nobody=1"},
        {"atlas", "policy", "atlas", "--weights", "1,x"},
        {"atlas", "policy", "atlas", "--weights", "1,1", "--own"},
        {"atlas", "policy", "run", "--weights", "1,1"},
        {"atlas", "check", "atlas", "nowhere"},
        {"explore", small_problem, "-o", "other", "--objective", "dense", "--objective", "sparse"},
        {"explore", small_problem, "-o", "other", "--until-loss", "0.1"},
        {"explore", small_problem, "-o", "other", "--objective", "dense", "--objective", "sparse",
         "--until-loss", "0"},
        {"explore", small_problem, "-o", "other", "--objective", "dense", "--objective", "sparse",
         "--until-loss", "1", "--target", "1"}};
    for (const Words& words : wrong) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
        EXPECT_NE(outcome.err.find("fix:"), std::string::npos) << outcome.err;
    }
    EXPECT_FALSE(std::filesystem::exists(path("other")));
}

TEST_F(AtlasTool, EndsAnExplorationThatKnowsNothingOfIt) {
    const Words objectives{"--objective", "dense?seed=1", "--objective", "sparse?seed=2&density=0.3"};
    Words words{"explore", small_problem,  "-o",  "until", "--episodes",
                "1e5",     "--until-loss", "0.2", "--json"};
    words.insert(words.end(), objectives.begin(), objectives.end());
    const Outcome outcome = run(words);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const json object = outcome.object();
    EXPECT_EQ(object["stopped"], "target");
    EXPECT_LE(object["atlas"]["loss_bound"].get<double>(), 0.2 + 1e-8);
    const auto episodes = object["episodes"].get<std::int64_t>();
    EXPECT_LT(episodes, 5000);
    EXPECT_EQ(object["atlas"]["episodes"], episodes);
    EXPECT_EQ(run({"atlas", "check", "until/atlas", "until"}).code, 0);
    // The same episodes without anybody looking.
    const json plain =
        run({"explore", small_problem, "-o", "plain", "--episodes", std::to_string(episodes), "--json"})
            .object();
    EXPECT_EQ(plain["weights"], object["weights"]);
    // Not enough: the run is kept, and goes on.
    words = {"explore", small_problem, "-o", "few", "--episodes", "10", "--until-loss", "0.2"};
    words.insert(words.end(), objectives.begin(), objectives.end());
    EXPECT_EQ(run(words).code, 3);
    words[5] = "1e5";
    words.push_back("--json");
    EXPECT_EQ(run(words).object()["episodes"], episodes);
}

TEST_F(AtlasTool, IsHandedOverWhenInterrupted) {
    explore_garnet();
    Words words{"atlas", "run", "--loss", "0", "-o", "atlas", "--threads", "1", "--certificates", "1e8"};
    for (const char* objective :
         {"dense?seed=1", "dense?seed=2", "dense?seed=3", "dense?seed=4", "dense?seed=5", "dense?seed=6"})
        words.insert(words.end(), {"--objective", objective});
    const pid_t child = start(words);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    kill(child, SIGINT);
    const Outcome outcome = wait_for(child);
    EXPECT_EQ(outcome.code, 130) << outcome.err;
    EXPECT_EQ(run({"atlas", "policy", "atlas", "--weights", "1,1,1,1,1,1"}).code, 0);
}

}  // namespace
}  // namespace alidade::testing
