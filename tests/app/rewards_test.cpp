#include <csignal>
#include <thread>

#include "alidade/files/reward_file.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

class Rewards : public Tool {
protected:
    /// What a plan says, without its time.
    static json timeless(json plan) {
        plan.erase("seconds");
        return plan;
    }
};

TEST_F(Rewards, ListShowsThoseOfTheProblemAndThoseOfAll) {
    const json object = run({"reward", "list", "inventory", "--json"}).object();
    EXPECT_EQ(object["problem"], "inventory");
    std::vector<std::string> natural, kinds;
    for (const json& item : object["rewards"]) {
        expect_keys(item, {"name", "meaning", "natural", "parameters"});
        (item["natural"].get<bool>() ? natural : kinds).push_back(item["name"]);
    }
    EXPECT_EQ(natural, (std::vector<std::string>{"service-level", "holding-cost", "balanced"}));
    EXPECT_EQ(kinds.size(), reward_kinds().size());
    const Outcome text = run({"reward", "list", "builtin:gridworld"});
    EXPECT_EQ(text.code, 0);
    for (const char* name : {"goal", "avoid", "single-state", "density"})
        EXPECT_NE(text.out.find(name), std::string::npos) << name;
    EXPECT_EQ(run({"reward", "list", "nothing"}).code, 2);
}

TEST_F(Rewards, AMadeFileIsTheRewardOfThatName) {
    const Problem problem = make_builtin("builtin:lock?variant=deep");
    for (const std::string name : {"open", "alive", "dense?seed=3", "reach?state=2"})
        for (const std::string file : {"r.json", "r.npz"}) {
            const Outcome made = run(
                {"reward", "make", "builtin:lock?variant=deep", name, "-o", file, "--overwrite", "--json"});
            ASSERT_EQ(made.code, 0) << made.err;
            EXPECT_EQ(made.object()["file"], file);
            EXPECT_EQ(read_reward(path(file), problem.shape()).reward, make_reward(problem, name))
                << name << " " << file;
        }
    EXPECT_EQ(run({"reward", "make", "lock", "open", "-o", "r.json"}).code, 2);
    EXPECT_EQ(run({"reward", "make", "lock", "open", "-o", "r.txt"}).code, 2);
    EXPECT_EQ(run({"reward", "make", "lock", "opne", "-o", "new.json"}).code, 2);
    EXPECT_EQ(run({"reward", "make", "lock", "dense?sed=1", "-o", "new.json"}).code, 2);
}

TEST_F(Rewards, ANameAndItsFilePlanAlike) {
    ASSERT_EQ(explore("run").code, 0);
    for (const std::string name : {"target", "sparse?seed=4&density=0.2"}) {
        ASSERT_EQ(run({"reward", "make", small_problem, name, "-o", "r.json", "--overwrite"}).code, 0);
        json named = timeless(run({"plan", "run", "--reward", name, "--json"}).object());
        json filed = timeless(run({"plan", "run", "--reward", "r.json", "--json"}).object());
        EXPECT_EQ(named["reward"], name);
        named.erase("reward");
        filed.erase("reward");
        EXPECT_EQ(named, filed);
    }
    EXPECT_EQ(run({"plan", "run", "--reward", "dense?seed=x"}).code, 2);
    EXPECT_EQ(run({"plan", "run"}).code, 2);
}

TEST_F(Rewards, ABatchOfPlansIsThePlansOneByOne) {
    ASSERT_EQ(explore("run").code, 0);
    const std::vector<std::string> names{"target", "dense", "sparse?seed=2", "reach?state=1", "binary"};
    Words words{"plan", "run", "--json", "-o", "plans"};
    for (const std::string& name : names) words.insert(words.end(), {"--reward", name});
    const Outcome batch = run(words);
    ASSERT_EQ(batch.code, 0) << batch.err;
    const json object = batch.object();
    EXPECT_EQ(object["stopped"], "done");
    EXPECT_EQ(object["asked"], names.size());
    ASSERT_EQ(object["plans"].size(), names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        json plan = timeless(object["plans"][i]);
        const double least = plan["methods"][plan["method"].get<std::string>()];
        EXPECT_EQ(std::max(0.0, least), plan["loss_bound"]);
        const std::string file = plan["file"];
        plan.erase("method");
        plan.erase("file");
        // The check is of the run, and is said once of all its plans.
        plan["model_check"] = object["model_check"];
        EXPECT_EQ(plan, timeless(run({"plan", "run", "--reward", names[i], "--json"}).object())) << names[i];
        EXPECT_EQ(json::parse(text_of(path(file)))["policy"], plan["policy"]);
    }
    for (const char* threads : {"1", "2"}) {
        words.insert(words.end(), {"--threads", threads});
        json again = run(words).object();
        for (std::size_t i = 0; i < names.size(); ++i)
            EXPECT_EQ(timeless(again["plans"][i]), timeless(object["plans"][i]));
        words.resize(words.size() - 2);
    }
    words.erase(std::find(words.begin(), words.end(), "--json"));
    const Outcome table = run(words);
    for (const char* part : {"sparse?seed=2", "advantage", "gap", "reward-free", "plain"})
        EXPECT_NE(table.out.find(part), std::string::npos) << part;
}

TEST_F(Rewards, AFolderOfRewardsIsABatchEvenOfOne) {
    ASSERT_EQ(explore("run").code, 0);
    std::filesystem::create_directory(path("rewards"));
    EXPECT_EQ(run({"plan", "run", "--rewards", "rewards"}).code, 2);
    EXPECT_EQ(run({"plan", "run", "--rewards", "nowhere"}).code, 2);
    ASSERT_EQ(run({"reward", "make", small_problem, "dense", "-o", "rewards/b.json"}).code, 0);
    write_text(path("rewards/notes.txt"), "not a reward\n");
    const json one = run({"plan", "run", "--rewards", "rewards", "--json"}).object();
    ASSERT_EQ(one["plans"].size(), 1u);
    EXPECT_EQ(one["plans"][0]["reward"], "rewards/b.json");
    ASSERT_EQ(run({"reward", "make", small_problem, "binary", "-o", "rewards/a.npz"}).code, 0);
    const json two = run({"plan", "run", "--rewards", "rewards", "--json"}).object();
    EXPECT_EQ(two["plans"][0]["reward"], "rewards/a.npz");
    EXPECT_EQ(two["plans"][1]["reward"], "rewards/b.json");
    // b.json and a reward file of the same name elsewhere would write one policy.
    ASSERT_EQ(run({"reward", "make", small_problem, "reach", "-o", "b.json"}).code, 0);
    EXPECT_EQ(run({"plan", "run", "--rewards", "rewards", "--reward", "b.json", "-o", "out"}).code, 2);
}

TEST_F(Rewards, PoliciesAndRewardsAreCertifiedInPairs) {
    ASSERT_EQ(explore("run").code, 0);
    ASSERT_EQ(run({"plan", "run", "--reward", "dense", "-o", "p.json"}).code, 0);
    ASSERT_EQ(run({"plan", "run", "--reward", "binary", "-o", "q.json"}).code, 0);
    const Words flags{"certify", "run", "--json", "--reward", "dense", "--reward", "binary"};
    const auto with = [&](Words words, const Words& more) {
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    const json pairs = run(with(flags, {"--policy", "p.json", "--policy", "q.json"})).object();
    const json shared = run(with(flags, {"--policy", "p.json"})).object();
    ASSERT_EQ(pairs["certificates"].size(), 2u);
    ASSERT_EQ(shared["certificates"].size(), 2u);
    EXPECT_EQ(pairs["certificates"][0], shared["certificates"][0]);
    EXPECT_EQ(pairs["certificates"][1]["policy"], "q.json");
    EXPECT_EQ(shared["certificates"][1]["policy"], "p.json");
    const json alone = run({"certify", "run", "--json", "--reward", "binary", "--policy", "q.json"}).object();
    for (const char* key : {"value_lower", "value_upper", "optimal_upper", "loss_bound", "methods"})
        EXPECT_EQ(pairs["certificates"][1][key], alone[key]) << key;
    const json policies =
        run({"certify", "run", "--json", "--reward", "dense", "--policy", "p.json", "--policy", "q.json"})
            .object();
    EXPECT_EQ(policies["certificates"][0], pairs["certificates"][0]);
    EXPECT_EQ(run(with(flags, {"--policy", "p.json", "--policy", "q.json", "--policy", "p.json"})).code, 2);
    EXPECT_EQ(run(flags).code, 2);
    const Outcome text =
        run({"certify", "run", "--reward", "dense", "--policy", "p.json", "--policy", "q.json"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("q.json"), std::string::npos);
}

TEST_F(Rewards, ARobustPlanSaysWhatItsRobustnessCosts) {
    ASSERT_EQ(run({"explore", inventory(), "-o", "run", "--episodes", "500", "--quiet"}).code, 0);
    const json robust =
        run({"plan", "run", "--reward", "balanced", "--planner", "robust", "--json"}).object();
    const json plain = run({"plan", "run", "--reward", "balanced", "--json"}).object();
    const json& price = robust["price_of_robustness"];
    expect_keys(price,
                {"model_value", "optimal_model_value", "cost", "guaranteed", "optimal_guaranteed", "gain"});
    EXPECT_EQ(price["guaranteed"], robust["value_lower"]);
    EXPECT_EQ(price["optimal_guaranteed"], plain["value_lower"]);
    EXPECT_GE(robust["value_lower"], plain["value_lower"]);
    EXPECT_GE(price["cost"], 0);
    EXPECT_FALSE(plain.contains("price_of_robustness"));
    const Outcome text = run({"plan", "run", "--reward", "balanced", "--planner", "robust"});
    EXPECT_NE(text.out.find("robustness     costs"), std::string::npos);
    const Outcome table =
        run({"plan", "run", "--reward", "balanced", "--reward", "dense", "--planner", "robust"});
    EXPECT_NE(table.out.find("robustness costs"), std::string::npos);
}

TEST_F(Rewards, AnInterruptedBatchPrintsWhatIsDone) {
    const std::string problem = support::effort_is("sanitized")
                                    ? "builtin:garnet?states=40&actions=2&features=3&horizon=8"
                                    : "builtin:garnet?states=120&actions=4&features=5&horizon=10";
    ASSERT_EQ(run({"explore", problem, "-o", "run", "--episodes", "300", "--quiet"}).code, 0);
    Words words{"plan", "run", "--json", "-o", "plans", "--threads", "1"};
    for (int i = 0; i < 1500; ++i)
        words.insert(words.end(), {"--reward", "sparse?seed=" + std::to_string(i)});
    const pid_t child = start(words);
    while (!std::filesystem::exists(path("plans/sparse?seed=2.json")))
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    kill(child, SIGINT);
    const Outcome stopped = wait_for(child);
    ASSERT_EQ(stopped.code, 130) << stopped.err;
    const json object = stopped.object();
    EXPECT_EQ(object["stopped"], "interrupted");
    EXPECT_EQ(object["asked"], 1500);
    ASSERT_GE(object["plans"].size(), 2u);
    EXPECT_LT(object["plans"].size(), 1500u);
    for (const json& plan : object["plans"])
        EXPECT_TRUE(std::filesystem::exists(path(plan["file"].get<std::string>())));
    EXPECT_EQ(timeless(run({"plan", "run", "--json", "--reward", "sparse?seed=0"}).object())["methods"],
              object["plans"][0]["methods"]);
}

TEST_F(Rewards, APlanIsKeptInItsRun) {
    ASSERT_EQ(explore("run").code, 0);
    EXPECT_EQ(run({"plans", "run", "--json"}).object()["plans"], json::array());
    const json made =
        run({"plan", "run", "--reward", "target", "--keep", "mine", "-o", "made.json", "--json"}).object();
    json kept = run({"plans", "run", "--json"}).object()["plans"];
    ASSERT_EQ(kept.size(), 1U);
    expect_keys(kept[0], {"name", "reward", "planner", "episodes", "value_lower", "value_upper",
                          "optimal_upper", "loss_bound", "vacuous", "methods", "method", "delta"});
    for (const char* key :
         {"reward", "planner", "value_lower", "value_upper", "loss_bound", "methods", "delta"})
        EXPECT_EQ(kept[0][key], made[key]) << key;
    // Of several rewards, each under a name of its own; beside those that were kept before.
    const Outcome both =
        run({"plan", "run", "--reward", "target", "--reward", "sparse?seed=4", "--keep", "many"});
    EXPECT_EQ(both.code, 0) << both.err;
    const Outcome all = run({"plans", "run"});
    for (const char* name : {"mine", "many-target", "many-sparse-seed-4"})
        EXPECT_NE(all.out.find(name), std::string::npos) << name;
    const json one = run({"plans", "run", "mine", "-o", "kept.json", "--json"}).object();
    EXPECT_EQ(one["plans"].size(), 1U);
    EXPECT_EQ(text_of(path("kept.json")), text_of(path("made.json")));
    EXPECT_EQ(run({"plans", "run", "other"}).code, 2);
    EXPECT_EQ(run({"plans", "run", "-o", "kept.json"}).code, 2);
    EXPECT_EQ(run({"plan", "run", "--reward", "target", "--keep", "a/b"}).code, 2);
}

}  // namespace
}  // namespace alidade::testing
