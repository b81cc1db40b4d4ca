#include "tool.hpp"

namespace alidade::testing {
namespace {

constexpr const char* linear_problem = "builtin:linear-random?states=6&actions=2&features=3&horizon=4&seed=5";

class Linear : public Tool {};

// The whole way of a linear MDP: look at it, explore, audit, plan, certify, hand it over.
TEST_F(Linear, GoesTheWholeWay) {
    const json shown = run({"problem", "show", linear_problem, "--json"}).object();
    EXPECT_EQ(shown["kind"], "linear MDP");
    EXPECT_FALSE(shown.contains("base"));
    EXPECT_EQ(run({"check", linear_problem}).code, 0);
    const Outcome explored = run({"explore", linear_problem, "-o", "run", "--episodes", "20000", "--json"});
    ASSERT_EQ(explored.code, 0) << explored.err;
    EXPECT_EQ(explored.object()["algorithm"], "lsvi");
    EXPECT_FALSE(explored.object().contains("weights"));
    const json candidates = explored.object()["certificate"]["candidates"];
    expect_keys(candidates, {"model", "coupling", "span", "printed", "wang"});
    const Outcome certified = run({"certify", "run", "--json"});
    EXPECT_EQ(certified.object()["candidates"], candidates) << certified.err;
    const json audited = run({"audit", "run", "--rewards", "20", "--climb", "20", "--json"}).object();
    EXPECT_EQ(audited["violations"], 0);
    EXPECT_TRUE(audited["truth_in_confidence_set"]);
    for (const char* planner : {"backward-induction", "lsvi", "robust"}) {
        const Outcome plan = run({"plan", "run", "--reward", "target", "--planner", planner, "--json"});
        ASSERT_EQ(plan.code, 0) << plan.err;
        EXPECT_LE(plan.object()["value_lower"].get<double>(), plan.object()["value_upper"].get<double>());
    }
    EXPECT_EQ(run({"export", "run", "--as", "drn", "--view", "interval", "-o", "m.drn"}).code, 0);
    const Outcome parametric = run({"export", "run", "--as", "drn", "--view", "parametric", "-o", "p.drn"});
    EXPECT_EQ(parametric.code, 2);
    EXPECT_NE(parametric.err.find("not weights of models"), std::string::npos) << parametric.err;
}

TEST_F(Linear, SaysWhoServesWhom) {
    const Outcome wrong = run({"explore", linear_problem, "-o", "run", "--algorithm", "hoeffding"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("the algorithm lsvi"), std::string::npos) << wrong.err;
    const Outcome other = run({"explore", small_problem, "-o", "run", "--algorithm", "lsvi"});
    EXPECT_EQ(other.code, 2);
    EXPECT_NE(other.err.find("for linear MDPs"), std::string::npos) << other.err;
    ASSERT_EQ(explore("mixture").code, 0);
    const Outcome planner = run({"plan", "mixture", "--reward", "target", "--planner", "lsvi"});
    EXPECT_EQ(planner.code, 2);
    EXPECT_NE(planner.err.find("linear MDP"), std::string::npos) << planner.err;
}

TEST_F(Linear, ThePapersConstantsAreCalledNotProved) {
    const Words words{"explore", linear_problem, "-o", "run", "--episodes", "500", "--constants", "paper"};
    const Outcome said = run(words);
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_NE(said.out.find("not proved, and no part of the bound: printed"), std::string::npos) << said.out;
    const Outcome safe = run({"explore", linear_problem, "-o", "other", "--constants", "safe"});
    EXPECT_EQ(safe.code, 2);
    EXPECT_NE(safe.err.find("nothing is proved"), std::string::npos) << safe.err;
}

TEST_F(Linear, ProblemFoldersAndLogs) {
    ASSERT_EQ(run({"problem", "make", linear_problem, "-o", "p"}).code, 0);
    EXPECT_TRUE(std::filesystem::exists(path("p/phi.npz")));
    const Outcome from_folder = run({"explore", "p", "-o", "one", "--episodes", "500", "--json"});
    const Outcome built_in = run({"explore", linear_problem, "-o", "two", "--episodes", "500", "--json"});
    json one = comparable(from_folder.object()), two = comparable(built_in.object());
    one.erase("problem");
    two.erase("problem");
    EXPECT_EQ(one, two);
    write_text(path("log.jsonl"), R"({"states": [0, 1, 2, 3], "actions": [0, 1, 0, 1], "count": 50})"
                                  "\n");
    const Outcome learned = run({"learn", "p", "--episodes", "log.jsonl", "-o", "learned", "--json"});
    ASSERT_EQ(learned.code, 0) << learned.err;
    EXPECT_EQ(learned.object()["algorithm"], "lsvi");
    EXPECT_EQ(run({"learn", "p", "--episodes", "log.jsonl", "-o", "l2", "--algorithm", "likelihood"}).code,
              2);
    // Without a truth it can be learned, and not explored.
    const std::string toml = text_of(path("p/problem.toml"));
    write_text(path("p/problem.toml"), toml.substr(0, toml.find("[environment]")));
    const Outcome unknown = run({"explore", "p", "-o", "three"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("measures = \"truth.npz\""), std::string::npos) << unknown.err;
}

TEST_F(Linear, AMixtureCanForgetItsBaseModels) {
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "p", "--one-hot"}).code, 0);
    EXPECT_EQ(run({"problem", "show", "p", "--json"}).object()["features"], 12);
    const Outcome again = run({"problem", "make", "p", "-o", "q", "--one-hot"});
    EXPECT_EQ(again.code, 2);
    EXPECT_NE(again.err.find("a linear MDP already"), std::string::npos) << again.err;
}

}  // namespace
}  // namespace alidade::testing
