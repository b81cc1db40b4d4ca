#include <cmath>

#include "tool.hpp"

namespace alidade::testing {
namespace {

class Bound : public Tool {
protected:
    static json row(const json& object, const std::string& name) {
        for (const json& bound : object["bounds"])
            if (bound["name"] == name) return bound;
        ADD_FAILURE() << name;
        return {};
    }
    void expect_refused(const Words& words, const std::string& what) const {
        const Outcome refused = run(words);
        EXPECT_EQ(refused.code, 2) << refused.err;
        EXPECT_EQ(refused.out, "");
        for (const char* part : {"error: ", "\nwhere: ", "\nwhy:   ", "\nfix:   "})
            EXPECT_NE(refused.err.find(part), std::string::npos) << part << "\n" << refused.err;
        EXPECT_NE(refused.err.find(what), std::string::npos) << what << "\n" << refused.err;
        Words with_json = words;
        with_json.emplace_back("--json");
        EXPECT_FALSE(run(with_json).object()["error"]["fix"].get<std::string>().empty());
    }
};

TEST_F(Bound, TableNamesEveryTheoremAndWhoseConstantsItHas) {
    const Outcome told = run({"bound", "--features", "5", "--horizon", "5", "--epsilon", "0.5"});
    ASSERT_EQ(told.code, 0) << told.err;
    EXPECT_EQ(told.err, "");
    // Three digits, rounded up: 3.40e10 of an independent calculation.
    for (const char* part : {"Theorem 1 ", "3.40e+10", "Theorem 2, printed radii", "Theorem 2, safe radii",
                             "Algorithm 1, sharp", "Theorem 3", "rate", "paper", "ours", "vacuous below"})
        EXPECT_NE(told.out.find(part), std::string::npos) << part << "\n" << told.out;
    EXPECT_EQ(told.out.find("loss after"), std::string::npos);
    EXPECT_EQ(told.out.find("Linear MDP  "), std::string::npos) << "needs the number of states";
    for (const char* part : {"Linear MDP, any S ", "Linear MDP, any S, sharp", "cited", "where it meets"})
        EXPECT_NE(told.out.find(part), std::string::npos) << part << "\n" << told.out;
}

TEST_F(Bound, SaysUpToWhichNumberOfStatesCountingThemIsBetter) {
    const auto asked = [&](const char* states, const char* episodes) {
        return run({"bound", "--features", "5", "--horizon", "10", "--epsilon", "1", "--states", states,
                    "--episodes", episodes, "--json"})
            .object();
    };
    const json few = asked("20", "1e5");
    ASSERT_EQ(few["coverings"].size(), 2);
    for (const json& covering : few["coverings"]) {
        expect_keys(covering, {"name", "episodes", "radius", "meets_at_states"});
        EXPECT_EQ(covering["episodes"], 1e5);
        EXPECT_LT(row(few, "linear-mdp")["guarantee"], row(few, covering["name"])["guarantee"]);
        const auto states = covering["meets_at_states"].get<std::int64_t>();
        const json here = asked(std::to_string(states).c_str(), "1e5");
        const json beyond = asked(std::to_string(states + 1).c_str(), "1e5");
        EXPECT_LE(row(here, "linear-mdp")["guarantee"], row(few, covering["name"])["guarantee"]);
        EXPECT_GT(row(beyond, "linear-mdp")["guarantee"], row(few, covering["name"])["guarantee"]);
    }
    // An independent calculation, 9 steps that share 0.05: 64.88 H.
    EXPECT_NEAR(few["coverings"][0]["radius"], 648.8, 0.1);
    // Without --episodes, after those that the row demands.
    const json target =
        run({"bound", "--features", "5", "--horizon", "10", "--epsilon", "1", "--json"}).object();
    for (const json& covering : target["coverings"])
        EXPECT_EQ(covering["episodes"], row(target, covering["name"])["episodes"]);
}

TEST_F(Bound, JsonHasTheNumbersOfAnIndependentCalculation) {
    const json object = run({"bound", "--features", "3", "--horizon", "3", "--epsilon", "0.5", "--delta",
                             "0.1", "--states", "6", "--json"})
                            .object();
    expect_keys(object, {"features", "horizon", "epsilon", "delta", "norm_bound", "states", "bounds",
                         "coverings", "doubling"});
    EXPECT_DOUBLE_EQ(object["norm_bound"], std::sqrt(3.0));
    for (const json& bound : object["bounds"]) {
        expect_keys(bound, {"name", "kind", "constants", "episodes", "vacuous_below", "assumes"});
        EXPECT_EQ(bound["kind"] == "sufficient", bound["vacuous_below"].is_number());
    }
    EXPECT_NEAR(row(object, "theorem-1")["episodes"], 1.12e9, 0.01e9);
    EXPECT_EQ(row(object, "theorem-1")["constants"], "paper");
    EXPECT_NEAR(row(object, "theorem-2-printed")["episodes"], 2.0e13, 0.05e13);
    EXPECT_EQ(row(object, "theorem-3-rate")["episodes"], 972);
    EXPECT_EQ(row(object, "theorem-3")["kind"], "necessary");
    EXPECT_EQ(row(object, "linear-mdp")["kind"], "sufficient");
    EXPECT_EQ(row(object, "linear-mdp-covering")["constants"], "cited");
    EXPECT_EQ(row(object, "linear-mdp-covering-sharp")["constants"], "ours");
    const json unit =
        run({"bound", "--features", "3", "--horizon", "3", "--epsilon", "0.5", "--norm-bound", "1", "--json"})
            .object();
    EXPECT_NEAR(row(unit, "theorem-1")["episodes"], 1.02e9, 0.01e9);
}

TEST_F(Bound, EpisodesTurnTheQuestionRound) {
    const Words words{"bound", "--features", "3", "--horizon", "3", "--epsilon", "0.5", "--episodes"};
    const auto after = [&](const char* episodes) {
        Words all = words;
        all.insert(all.end(), {episodes, "--json"});
        return run(all).object();
    };
    const json few = row(after("1e5"), "theorem-1"), many = row(after("1.2e9"), "theorem-1");
    EXPECT_EQ(few["vacuous"], true);
    EXPECT_GE(few["guarantee"], 3);
    EXPECT_EQ(many["vacuous"], false);
    EXPECT_LT(many["guarantee"], 0.5);
    EXPECT_GT(many["guarantee"], 0.45);
    Words text = words;
    text.emplace_back("1e5");
    const std::string out = run(text).out;
    EXPECT_NE(out.find("loss after 100,000"), std::string::npos) << out;
    EXPECT_NE(out.find("vacuous"), std::string::npos);
}

TEST_F(Bound, TakesSizesFromAProblemUnlessAFlagSaysOtherwise) {
    const json object = run({"bound", small_problem, "--epsilon", "0.5", "--json"}).object();
    EXPECT_EQ(object["features"], 3);
    EXPECT_EQ(object["horizon"], 4);
    EXPECT_EQ(object["states"], 6);
    const json longer =
        run({"bound", small_problem, "--epsilon", "0.5", "--horizon", "8", "--json"}).object();
    EXPECT_EQ(longer["horizon"], 8);
    EXPECT_GT(row(longer, "theorem-1")["episodes"], row(object, "theorem-1")["episodes"]);
    EXPECT_EQ(run({"bound", small_problem, "--epsilon", "0.5"}).code, 0);
}

TEST_F(Bound, RefusesWhatHasNoAnswer) {
    const Words sizes{"bound", "--features", "3", "--horizon", "3"};
    const auto with = [&](Words more) {
        more.insert(more.begin(), sizes.begin(), sizes.end());
        return more;
    };
    expect_refused(sizes, "--epsilon");
    expect_refused({"bound", "--horizon", "3", "--epsilon", "1"}, "--features");
    expect_refused({"bound", "--features", "3", "--epsilon", "1"}, "--horizon");
    expect_refused({"bound", "--features", "0", "--horizon", "3", "--epsilon", "1"}, "--features");
    expect_refused({"bound", "--features", "three", "--horizon", "3", "--epsilon", "1"}, "three");
    for (const char* epsilon : {"0", "4", "nan", "-1"})
        expect_refused(with({"--epsilon", epsilon}), "--epsilon");
    for (const char* delta : {"0", "1", "nan"})
        expect_refused(with({"--epsilon", "1", "--delta", delta}), "--delta");
    expect_refused(with({"--epsilon", "1", "--norm-bound", "0.5"}), "--norm-bound");
    expect_refused(with({"--epsilon", "1", "--episodes", "0"}), "--episodes");
    expect_refused(with({"--epsilon", "1", "--states", "0"}), "--states");
    expect_refused(with({"--epsilon", "1e-200"}), "episodes");
    expect_refused({"bound", "no/such/folder", "--epsilon", "1"}, "no/such/folder");
}

}  // namespace
}  // namespace alidade::testing
