#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <tuple>

#include "alidade/formats/problem_folder.hpp"
#include "alidade/run/run.hpp"
#include "process/plants.hpp"
#include "tool.hpp"

/// Systems that are other programs, by the command line.
namespace alidade::testing::system_test {
namespace {

class Systems : public Tool {
protected:
    void SetUp() override {
        Tool::SetUp();
        const Task task = plant_task();
        ProblemDescription parts{
            .name = "chain", .features = task.features, .horizon = task.horizon, .homogeneous = true};
        save_problem(Problem(parts), path("chain"));
    }

    static std::string plant(const std::string& words = "") {
        return std::string("cmd:") + ALIDADE_TEST_PLANT + " " + words;
    }

    Outcome explore_with(const std::string& system, const std::string& folder, const Words& more = {},
                         std::int64_t episodes = 300) const {
        Words words{"explore", "chain",    "-o",  folder, "--episodes", std::to_string(episodes),
                    "--json",  "--system", system};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }

    void expect_says(const Outcome& outcome, int code, const std::vector<std::string>& words) const {
        EXPECT_EQ(outcome.code, code) << outcome.err;
        for (const std::string& word : words)
            EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome.err;
        for (const char* part : {"error:", "where:", "why:", "fix:"})
            EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    }

    /// Processes of the plant that still live.
    int alive() const {
        std::ifstream file(path("pids"));
        int count = 0;
        for (pid_t pid = 0; file >> pid;) count += kill(pid, 0) == 0 ? 1 : 0;
        return count;
    }
};

TEST_F(Systems, AnUnknownTruthIsTheNormalCase) {
    const Outcome explored = explore_with(plant(), "run");
    ASSERT_EQ(explored.code, 0) << explored.err;
    EXPECT_EQ(explored.object()["system"], "cmd");
    EXPECT_EQ(explored.object()["broken_off"], 0);
    EXPECT_EQ(explored.object()["episodes"], 300);
    write_text(path("end.json"), R"({"default": 0, "entries": [{"state": 4, "reward": 1}]})");
    for (const Words& words : {Words{"certify", "run"},
                               {"check-certificate", "run"},
                               {"plan", "run", "--reward", "end.json", "--keep", "end", "-o", "plan.json"},
                               {"plans", "run"},
                               {"certify", "run", "--reward", "end.json", "--policy", "plan.json"},
                               {"export", "run", "--as", "drn", "-o", "model.drn"},
                               {"export", "run", "--as", "npz", "-o", "model.npz"},
                               {"check", "chain"}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << words.front() << outcome.err;
    }
    expect_says(run({"audit", "run"}), 2, {"truth", "not known", "alidade certify"});
    // And it goes on.
    EXPECT_EQ(explore_with(plant(), "run", {}, 400).object()["episodes"], 400);
}

TEST_F(Systems, TheSameBytesForAnyNumberOfWorkers) {
    const Outcome one = explore_with(plant("shuffle=1"), "one");
    ASSERT_EQ(one.code, 0) << one.err;
    for (const char* words : {"", "batches=1"}) {
        const Outcome eight = explore_with(plant(words), "eight", {"--workers", "8", "--overwrite"});
        ASSERT_EQ(eight.code, 0) << eight.err;
        EXPECT_EQ(comparable(one.object()), comparable(eight.object()));
        const auto a = Run::open(path("one"), Access::read).checkpoint(),
                   b = Run::open(path("eight"), Access::read).checkpoint();
        EXPECT_TRUE(a->counts == b->counts);
        EXPECT_TRUE(a->memory == b->memory);
    }
}

TEST_F(Systems, TheProblemMaySayWhoRunsIt) {
    std::filesystem::create_symlink(ALIDADE_TEST_PLANT, path("chain/plant"));
    const std::string toml = text_of(path("chain/problem.toml"));
    for (const char* said : {"system = \"cmd:./plant pids=here\"\nworkers = 2\ntimeout = 20\n",
                             "command = [\"./plant\", \"pids=here\"]\n"}) {
        write_text(path("chain/problem.toml"), toml + "\n[environment]\n" + said);
        EXPECT_NE(run({"check", "chain"}).out.find("./plant"), std::string::npos);
        const Outcome explored = run({"explore", "chain", "-o", "run", "--episodes", "60", "--overwrite"});
        EXPECT_EQ(explored.code, 0) << explored.err;
        EXPECT_TRUE(std::filesystem::exists(path("chain/here"))) << "it is started in the problem's folder";
    }
    write_text(path("chain/problem.toml"), toml + "\n[environment]\nsystem = \"ask\"\n");
    EXPECT_NE(run({"explore", "chain", "-o", "asked"}).out.find("alidade ask asked"), std::string::npos);
    for (const char* wrong : {"system = \"cmd:x\"\ncommand = [\"x\"]\n", "system = 3\n", "workers = 0\n",
                              "timeout = 0\n", "sistem = \"ask\"\n"}) {
        write_text(path("chain/problem.toml"), toml + "\n[environment]\n" + wrong);
        EXPECT_EQ(run({"explore", "chain", "-o", "no"}).code, 2) << wrong;
    }
}

TEST_F(Systems, WhatCannotBeIsRefusedInFourParts) {
    EXPECT_EQ(explore_with("ask", "asked-by-flag").object().at("system"), "ask");
    expect_says(explore_with("simulated", "run"), 2, {"really like", "weights"});
    expect_says(explore_with("real", "run"), 2,
                {"no system is called 'real'", "simulated, cmd:COMMAND, ask"});
    expect_says(explore_with("cmd:", "run"), 2, {"no command"});
    expect_says(explore_with(plant(), "run", {"--workers", "0"}), 2, {"--workers is 0"});
    expect_says(explore_with(plant(), "run", {"--timeout", "-1"}), 2, {"--timeout is -1"});
    expect_says(run({"explore", "chain", "-o", "run"}), 2,
                {"how to run its system", "--system", "alidade learn"});
    expect_says(run({"explore", small_problem, "-o", "run", "--workers", "2"}), 2,
                {"--workers", "simulated here"});
    EXPECT_FALSE(std::filesystem::exists(path("run")));
    const std::string help = run({"explore", "--help"}).out;
    for (const char* word : {"--system", "--workers", "--timeout", "cmd:COMMAND", "simulated", "ask"})
        EXPECT_NE(help.find(word), std::string::npos) << word;
}

TEST_F(Systems, DataOfTwoSystemsAreNotMixed) {
    ASSERT_EQ(explore("run").code, 0);
    const Outcome mixed = explore("run", {"--system", plant()});
    expect_says(mixed, 2, {"--system simulated (not cmd)", "must not be mixed"});
    ASSERT_EQ(explore("steps", {"--system", "simulated?method=stepwise"}).code, 0);
    EXPECT_EQ(explore("steps").code, 2);
    EXPECT_EQ(explore("steps", {"--system", "simulated?method=stepwise"}).code, 0);
}

TEST_F(Systems, ASystemThatFailsIsAnErrorThatLosesNothing) {
    const Outcome failed = explore_with(plant("episode=100 step=2 do=garbage 'talk=valve 7 sticks'"), "run");
    expect_says(failed, 1,
                {"episode 100, step 2", "Loading licence", "valve 7 sticks", "system.log", "goes on"});
    EXPECT_NE(text_of(path("run/system.log")).find("worker 0: valve 7 sticks"), std::string::npos);
    // All are stored; those of an experiment that is not over are taken up when it is.
    EXPECT_EQ(run({"status", "run", "--json"}).object()["episodes"]["told"], 100);
    EXPECT_EQ(run({"certify", "run"}).code, 0);
    const Outcome mended = explore_with(plant(), "run");
    ASSERT_EQ(mended.code, 0) << mended.err;
    EXPECT_NE(mended.err.find("Resuming after 100 episodes"), std::string::npos) << mended.err;
    EXPECT_EQ(mended.object()["episodes"], 300);
    // It is the run that never failed.
    json never = explore_with(plant(), "straight").object(), after = mended.object();
    for (json* object : {&never, &after}) object->erase("restarts");
    EXPECT_EQ(comparable(never), comparable(after));
    expect_says(explore_with("cmd:/nowhere/plant", "never"), 1, {"exit status 127", "/nowhere/plant"});
    expect_says(explore_with(plant("states=7"), "never"), 1, {"7 states"});
}

TEST_F(Systems, EpisodesThatBrokeOffAreReported) {
    const Outcome explored = explore_with(plant("episode=50 step=1 do=die"), "run", {"--workers", "2"});
    ASSERT_EQ(explored.code, 0) << explored.err;
    EXPECT_EQ(explored.object()["broken_off"], 1);
    EXPECT_GE(explored.object()["restarts"], 1);
    EXPECT_EQ(explored.object()["episodes"], 300);
    const Outcome text = run({"explore", "chain", "-o", "again", "--episodes", "300", "--system",
                              plant("episode=50 step=1 do=die")});
    EXPECT_NE(text.out.find("1 episodes broke off"), std::string::npos) << text.out;
}

TEST_F(Systems, CtrlCStopsItCleanly) {
    for (const int signal : {SIGINT, SIGTERM}) {
        std::filesystem::remove_all(path("run"));
        std::filesystem::remove(path("pids"));
        const std::string system = plant("shuffle=20 pids=" + path("pids").string());
        const pid_t child = start({"explore", "chain", "-o", "run", "--episodes", "1e9", "--json",
                                   "--workers", "3", "--system", system});
        for (int i = 0; i < 2000 && alive() < 3; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        EXPECT_EQ(alive(), 3);
        kill(child, signal);
        const Outcome stopped = wait_for(child);
        ASSERT_EQ(stopped.code, 130) << stopped.err;
        EXPECT_EQ(alive(), 0);
        const std::int64_t done = stopped.object()["episodes"];
        EXPECT_GT(done, 0);
        EXPECT_EQ(Run::open(path("run"), Access::read).checkpoint()->counts.episodes(), done);
        const Outcome more = explore_with(plant(), "run", {}, done + 100);
        EXPECT_EQ(more.code, 0) << more.err;
    }
}

/// A problem of base models that are given by their rows, (next, probability) for each state and action.
using Rows = std::vector<std::vector<std::pair<std::int32_t, double>>>;

void save_problem_of(const std::vector<Rows>& models, Index states, Index horizon,
                     const std::filesystem::path& folder) {
    std::vector<BaseKernel> kernels;
    for (const Rows& rows : models) {
        BaseKernel kernel{.rows = std::ssize(rows), .columns = states, .offsets = {0}};
        for (const auto& row : rows) {
            for (const auto& [target, probability] : row) {
                kernel.targets.push_back(target);
                kernel.probabilities.push_back(probability);
            }
            kernel.offsets.push_back(std::ssize(kernel.targets));
        }
        kernels.push_back(std::move(kernel));
    }
    ProblemDescription parts{.name = "rows", .horizon = horizon, .homogeneous = true};
    parts.features = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(states, std::ssize(models.front()) / states, kernels));
    save_problem(Problem(parts), folder);
}

Rows lamp(double works) {
    return {{{0, 1}}, {{0, 1 - works}, {1, works}}, {{1, 1}}, {{0, works}, {1, 1 - works}}};
}

Rows machine(double wears, double repaired) {
    return {{{0, 1 - wears}, {1, wears}},       {{0, 1}}, {{1, 1 - wears}, {2, wears}},
            {{0, repaired}, {1, 1 - repaired}}, {{2, 1}}, {{0, repaired}, {2, 1 - repaired}}};
}

/// The systems of examples/systems, and the first program of docs/own-system.md, as they stand there.
TEST_F(Systems, TheExamplesAndTheTwentyLinesOfThePageCanBeExplored) {
    const std::string page = text_of(std::filesystem::path(ALIDADE_SOURCE) / "docs/own-system.md");
    const std::size_t begin = page.find("```python\n") + 10, end = page.find("```", begin);
    write_text(path("machine.py"), page.substr(begin, end - begin));
    save_problem_of({machine(0.1, 0.85), machine(0.5, 0.95)}, 3, 6, path("machine"));
    save_problem_of({lamp(0.5), lamp(0.9)}, 2, 5, path("lamp"));
    ASSERT_EQ(run({"problem", "make", "builtin:riverswim?variant=halves", "-o", "river"}).code, 0);
    const std::string examples = std::string(ALIDADE_SOURCE) + "/examples/systems/";
    std::vector<std::tuple<std::string, std::string, std::string>> all{
        {"machine", "cmd:python3 machine.py", "500"},
        {"river", "cmd:python3 " + examples + "river.py", "1000"},
        {"lamp", "cmd:sh " + examples + "coin.sh", "40"}};
    if (std::filesystem::exists(ALIDADE_WALK))  // where the examples are built
        all.emplace_back("chain", std::string("cmd:") + ALIDADE_WALK + " 5 4", "1000");
    for (const auto& [problem, system, episodes] : all) {
        const Outcome explored = run({"explore", problem, "-o", problem + "-run", "--system", system,
                                      "--workers", "2", "--episodes", episodes, "--json"});
        EXPECT_EQ(explored.code, 0) << system << explored.err;
        EXPECT_EQ(explored.object()["broken_off"], 0) << system;
        EXPECT_EQ(explored.object()["restarts"], 0) << system;
    }
}

/// However the tool ends, its children do.
TEST_F(Systems, AKilledToolLeavesNoProcessBehind) {
    // In a line of several commands, in the middle of something that never ends.
    const std::string system =
        "cmd:true; " + plant("at=400 do=hang pids=" + path("pids").string()).substr(4) + " | cat";
    const pid_t child =
        start({"explore", "chain", "-o", "run", "--episodes", "1e9", "--system", system, "--workers", "2"});
    for (int i = 0; i < 2000 && alive() < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    kill(child, SIGKILL);
    wait_for(child);
    for (int i = 0; i < 1000 && alive() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(alive(), 0);
}

}  // namespace
}  // namespace alidade::testing::system_test
