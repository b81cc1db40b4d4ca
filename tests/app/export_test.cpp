#include <csignal>

#include "alidade/formats/drn_file.hpp"
#include "alidade/formats/gym_file.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

/// Runs are exported for other tools.
class Export : public Tool {
protected:
    void SetUp() override {
        Tool::SetUp();
        ASSERT_EQ(explore("run").code, 0);
        write_text(path("gain.json"), R"({"default": 0.25, "entries": [{"state": 1, "reward": 1}]})");
        write_text(path("late.json"), R"({"default": 0, "entries": [{"state": 0, "step": 3, "reward": 1}]})");
    }

    void expect_refused(const Words& words, const std::string& what) const {
        const Outcome refused = run(words);
        EXPECT_EQ(refused.code, 2) << refused.err;
        for (const std::string& part : {std::string("error: "), std::string("\nfix:   "), what})
            EXPECT_NE(refused.err.find(part), std::string::npos) << part << "\n" << refused.err;
    }
};

TEST_F(Export, EveryViewIsAValidFileOfTheSizesThatAreSaid) {
    for (const char* view : {"point", "interval", "parametric"}) {
        const std::string file = std::string(view) + ".drn";
        const Outcome done = run({"export", "run", "--as", "drn", "--view", view, "-o", file, "--reward",
                                  "gain.json", "--reward", "late.json", "--json"});
        ASSERT_EQ(done.code, 0) << done.err;
        const json object = done.object();
        expect_keys(object, {"format", "view", "unrolled", "parameters", "labels", "initial_state", "steps",
                             "delta", "claim", "usage", "seconds"});
        const ExplicitModel model = detail::read_drn(path(file));
        EXPECT_EQ(object["states"], model.header.states);
        EXPECT_EQ(model.header.states, 4 * 6 + 1);
        EXPECT_EQ(object["choices"], model.header.choices);
        EXPECT_EQ(object["branches"], model.header.branches);
        EXPECT_EQ(object["bytes"], std::filesystem::file_size(path(file)));
        EXPECT_EQ(object["files"], json::array({file}));
        EXPECT_EQ(model.header.rewards, (std::vector<std::string>{"gain", "late"}));
        EXPECT_EQ(model.header.parameters.size(), std::string(view) == "parametric" ? 6U : 0U);
        EXPECT_NE(object["usage"].get<std::string>().find("build_model_from_drn"), std::string::npos);
    }
    ASSERT_EQ(run({"export", "run", "--as", "gym", "-o", "p.json", "--reward", "gain.json"}).code, 0);
    EXPECT_EQ(detail::read_gym(path("p.json")).header.states, 25);
}

TEST_F(Export, WhatIsWrittenIsSaidWithTheClaimAndTheLinesToType) {
    const Outcome done = run({"export", "run", "--view", "interval", "-o", "m.drn", "--reward", "gain.json"});
    ASSERT_EQ(done.code, 0) << done.err;
    for (const char* part :
         {"25 states", "49 choices", "With probability 0.9", "looser",
          "stormpy.build_model_from_drn[stormpy.Interval]('m.drn')", "R{\"gain\"}max=? [C<=4]", "ROBUST"})
        EXPECT_NE(done.out.find(part), std::string::npos) << part << "\n" << done.out;
}

TEST_F(Export, ExistingFilesAreOnlyReplacedOnRequest) {
    write_text(path("m.drn"), "mine");
    expect_refused({"export", "run", "-o", "m.drn"}, "exists");
    EXPECT_EQ(text_of(path("m.drn")), "mine");
    EXPECT_EQ(run({"export", "run", "-o", "m.drn", "--overwrite"}).code, 0);
    EXPECT_EQ(detail::read_drn(path("m.drn")).header.states, 25);
}

TEST_F(Export, BadRequestsLeaveNoFile) {
    expect_refused({"export", "nothing", "-o", "m.drn"}, "nothing");
    expect_refused({"export", "run", "-o", "m.drn", "--as", "jani"}, "jani");
    expect_refused({"export", "run", "-o", "m.drn", "--view", "fuzzy"}, "fuzzy");
    expect_refused({"export", "run", "-o", "m.drn", "--as", "gym", "--view", "interval"}, "gym");
    expect_refused({"export", "run", "-o", "m.drn", "--stationary"}, "--stationary");
    expect_refused({"export", "run", "-o", "m.drn", "--reward", "none.json"}, "none.json");
    expect_refused({"export", "run", "-o", "m.drn", "--reward", "gain.json", "--reward", "gain.json"},
                   "gain");
    expect_refused(
        {"export", "run", "-o", "m.drn", "--as", "gym", "--reward", "gain.json", "--reward", "late.json"},
        "one reward");
    expect_refused({"export", "run", "-o", "no/m.drn"}, "no/m.drn");
    expect_refused({"export", "run"}, "--output");
    for (const auto& file : std::filesystem::directory_iterator(path("")))
        EXPECT_EQ(file.path().filename().string().find("m.drn"), std::string::npos) << file.path();
}

TEST_F(Export, AnInterruptionLeavesNoHalfFile) {
    // Few pairs to learn, but many parameters: it is the writing that takes time. (Of up to 100 pairs
    // `two-chain` would compare all with all, which takes longer.)
    const char* problem = support::effort_is("sanitized")
                              ? "builtin:garnet?states=60&actions=2&features=3&horizon=20&successors=20"
                              : "builtin:garnet?states=60&actions=2&features=4&horizon=50&successors=20";
    ASSERT_EQ(run({"explore", problem, "-o", "big", "--episodes", "5", "--algorithm", "uniform"}).code, 0);
    const pid_t child = start({"export", "big", "-o", "big.drn", "--view", "parametric"});
    const auto partial = path("big.drn.partial-" + std::to_string(child));
    while (!std::filesystem::exists(partial) && !std::filesystem::exists(path("big.drn"))) usleep(1000);
    kill(child, SIGINT);
    const Outcome outcome = wait_for(child);
    EXPECT_FALSE(std::filesystem::exists(partial));
    if (std::filesystem::exists(path("big.drn"))) {
        // The signal came too late.
        EXPECT_NO_THROW(detail::read_drn(path("big.drn")));
    } else {
        EXPECT_EQ(outcome.code, 130);
        EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
    }
}

}  // namespace
}  // namespace alidade::testing
