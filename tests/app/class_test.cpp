#include "tool.hpp"

namespace alidade::testing {
namespace {

/// Certificates of classes of rewards, as they are asked for.
class Classes : public Tool {
protected:
    json certified(const std::string& rewards, std::vector<std::string> flags = {}) const {
        std::vector<std::string> words{"certify", "run", "--class", rewards, "--json"};
        words.insert(words.end(), flags.begin(), flags.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.object();
    }
};

TEST_F(Classes, AreCertifiedFromWhatARunHasStored) {
    const json explored = explore("run").object();
    const json total = certified("total");
    for (const char* key : {"class", "bound", "most", "vacuous", "method", "candidates", "reward_free",
                            "delta", "episodes", "contributions"})
        EXPECT_TRUE(total.contains(key)) << key;
    EXPECT_EQ(total["most"], 1);
    EXPECT_EQ(total["reward_free"], explored["certificate"]["reward_free"]);
    // The same number at the end of the run as ever after.
    EXPECT_EQ(explored["certificate"]["classes"]["total"]["bound"], total["bound"]);
    EXPECT_EQ(explored["certificate"]["classes"]["total"]["method"], total["method"]);
    const double all = certified("steps=0..")["bound"];
    // A class is about plans of which only their value in the model is known.
    EXPECT_EQ(all, explored["certificate"]["any_plan"]);
    EXPECT_EQ(certified("steps=0")["bound"], 0);
    const double late = certified("steps=2..")["bound"], both = certified("total+steps=2..")["bound"];
    EXPECT_LE(late, all);
    EXPECT_LE(both, total["bound"]);
    EXPECT_LE(certified("states=0")["bound"], all);
    EXPECT_EQ(certified("states=0,1,2..")["bound"], all);
    const Outcome text = run({"certify", "run", "--class", "total"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("at most 1 in every episode"), std::string::npos) << text.out;
}

TEST_F(Classes, NearAReward) {
    ASSERT_EQ(explore("run").code, 0);
    const json near = certified("near=dense?seed=1:0.01");
    for (const char* key : {"class", "reward", "eta", "policy", "loss_bound", "most", "vacuous", "methods",
                            "proved_optimal", "radius", "delta"})
        EXPECT_TRUE(near.contains(key)) << key;
    EXPECT_EQ(near["reward"], "dense?seed=1");
    EXPECT_TRUE(near["policy"].is_null());
    // The model's plan, by its name or by its file; without a tolerance its own certificate.
    const json plan = run({"plan", "run", "--reward", "dense?seed=1", "-o", "p.json", "--json"}).object();
    EXPECT_EQ(certified("near=dense?seed=1:0.01", {"--policy", "p.json"})["loss_bound"], near["loss_bound"]);
    EXPECT_EQ(certified("near=dense?seed=1:0")["loss_bound"], plan["loss_bound"]);
    EXPECT_GE(near["loss_bound"], plan["loss_bound"]);
    EXPECT_NE(run({"certify", "run", "--class", "near=dense?seed=1:0.01"}).out.find("radius"),
              std::string::npos);
}

TEST_F(Classes, AreRefusedInWordsWhereTheyMakeNoSense) {
    ASSERT_EQ(explore("run").code, 0);
    for (const char* wrong :
         {"some", "steps=", "steps=99", "steps=3..1", "steps=x", "steps=..", "states=nowhere", "states=-1",
          "total=0", "total=x", "near=dense", "near=:0.1", "near=dense:-1", "near=dense:x",
          "total+near=dense:0.1", "near=nothing:0.1", "", "total+"}) {
        if (*wrong == 0) continue;
        const Outcome outcome = run({"certify", "run", "--class", wrong});
        EXPECT_EQ(outcome.code, 2) << wrong;
        EXPECT_NE(outcome.err.find("fix:"), std::string::npos) << wrong;
    }
    EXPECT_EQ(run({"certify", "run", "--class", "total", "--policy", "p.json"}).code, 2);
    EXPECT_EQ(run({"certify", "run", "--class", "total", "--reward", "target"}).code, 2);
    EXPECT_EQ(run({"certify", "run", "--class", "total", "--sensitivity"}).code, 2);
    ASSERT_EQ(explore("printed", {"--constants", "paper"}).code, 0);
    EXPECT_EQ(run({"certify", "printed", "--class", "total"}).code, 2);
    EXPECT_FALSE(explore("again", {"--constants", "paper"}).object()["certificate"].contains("classes"));
}

}  // namespace
}  // namespace alidade::testing
