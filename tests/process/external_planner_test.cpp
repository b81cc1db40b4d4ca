#include "alidade/process/external_planner.hpp"

#include <signal.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "alidade/files/npz.hpp"
#include "alidade/formats/drn_file.hpp"
#include "alidade/process/planning_model.hpp"
#include "support/files.hpp"
#include "support/random_models.hpp"

namespace alidade::testing::external_planner_test {
namespace {

const Shape shape{2, 3, 2};

MixtureModel small_model(bool start_law = false) {
    return support::random_model(3, {.shape = shape, .successors = 2, .start_law = start_law});
}

Plan run(const ExternalPlannerOptions& options) {
    return ExternalPlanner(options).plan(small_model(), Reward::constant(shape, 0.5));
}

std::string failure(const ExternalPlannerOptions& options) {
    try {
        run(options);
    } catch (const CommandFailed& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing failed";
    return {};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(ExternalPlanner, GivesTheModelAndReadsThePolicyBack) {
    const Plan plan =
        run({.command = R"(test -s {model} && echo '{"policy": [[0,2],[1,0]], "value": 1}' > {policy})"});
    EXPECT_EQ(plan.policy, Policy::deterministic(shape, {0, 2, 1, 0}));
    EXPECT_EQ(plan.claimed_value, 1);
    EXPECT_TRUE(std::isinf(plan.claimed_accuracy));
}

TEST(ExternalPlanner, PathsWithBlanksAndQuotesAreQuoted) {
    const TemporaryFolder folder;
    const Plan plan = run({.command = R"(test -s {model} && echo '{"choices": [0,2,1,0,0]}' > {policy})",
                           .folder = folder / "it's a folder; really"});
    EXPECT_EQ(plan.policy, Policy::deterministic(shape, {0, 2, 1, 0}));
    EXPECT_TRUE(std::filesystem::exists(folder / "it's a folder; really/model.json"));
    EXPECT_TRUE(std::filesystem::exists(folder / "it's a folder; really/policy.json"));
}

TEST(ExternalPlanner, ItsFilesAreRemovedUnlessAFolderIsNamed) {
    const TemporaryFolder folder;
    const std::string where = (folder / "where").string();
    run({.command = "dirname {model} > " + where + R"( && echo '{"choices": [0,0,0,0,0]}' > {policy})"});
    std::string used = bytes_of(where);
    used.pop_back();
    EXPECT_FALSE(used.empty());
    EXPECT_FALSE(std::filesystem::exists(used));
}

TEST(ExternalPlanner, APolicyThatLayThereBeforeIsNotTaken) {
    const TemporaryFolder folder;
    folder.write("policy.json", R"({"choices": [0,0,0,0,0]})");
    EXPECT_TRUE(says(refusal([&] { run({.command = "true {model} {policy}", .folder = folder.path()}); }),
                     {"policy.json", "wrote no policy"}));
}

TEST(ExternalPlanner, FailuresCarryTheExitStatusAndTheLastWords) {
    const std::string text =
        failure({.command = "seq 1 100; echo no licence >&2; exit 7 # {model} {policy}"});
    EXPECT_TRUE(says(text, {"exit status 7", "no licence", "  82\n", "exit 7 #"}));
    EXPECT_EQ(text.find("  81\n"), std::string::npos) << "more than the last 20 lines";
    EXPECT_TRUE(says(failure({.command = "exit 3 # {model} {policy}"}), {"exit status 3", "(nothing)"}));
    EXPECT_TRUE(says(failure({.command = "kill -SEGV $$ # {model} {policy}"}), {"signal 11"}));
    EXPECT_TRUE(
        says(failure({.command = "no-such-program {model} {policy}"}), {"exit status 127", "not found"}));
}

TEST(ExternalPlanner, MuchTalkDoesNotBlockTheCommand) {
    const Plan plan =
        run({.command = R"(seq 1 200000; echo '{"choices": [0,0,0,1,0]}' > {policy}; true {model})"});
    EXPECT_EQ(plan.policy.action(1, 1), 1);
}

TEST(ExternalPlanner, TheTimeLimitKillsAllThatTheCommandStarted) {
    const TemporaryFolder folder;
    const std::string pid = (folder / "pid").string();
    const auto begin = std::chrono::steady_clock::now();
    const std::string text = failure(
        {.command = "(sleep 100 & echo $! > " + pid + "; wait) ; true {model} {policy}", .time_limit = 0.5});
    EXPECT_TRUE(says(text, {"longer than its 0.5 s", "killed"}));
    EXPECT_LT(seconds_since(begin), 20);
    const pid_t inner = static_cast<pid_t>(std::stol(bytes_of(pid)));
    // Killed at once, but it may take its adopter a moment to notice.
    bool gone = false;
    for (int i = 0; i < 100 && !gone; ++i) {
        const std::string state = bytes_of("/proc/" + std::to_string(inner) + "/stat");
        gone = state.empty() || state.find(") Z ") != std::string::npos;
        if (!gone) usleep(50000);
    }
    EXPECT_TRUE(gone);
}

TEST(ExternalPlanner, WhatIsLeftInTheBackgroundDoesNotKeepItWaiting) {
    const auto begin = std::chrono::steady_clock::now();
    run({.command = R"(sleep 100 & echo '{"choices": [0,0,0,0,0]}' > {policy}; true {model})"});
    EXPECT_LT(seconds_since(begin), 20);
}

TEST(ExternalPlanner, StopsWhenAsked) {
    int asked = 0;
    EXPECT_THROW(run({.command = "sleep 100; true {model} {policy}", .stop = [&] { return ++asked > 2; }}),
                 CommandStopped);
}

TEST(ExternalPlanner, RefusesWhatIsNoPolicy) {
    const auto refused = [](const std::string& text) {
        return refusal([&] { run({.command = "echo '" + text + "' > {policy}; true {model}"}); });
    };
    EXPECT_TRUE(says(refused("nonsense"), {"policy.json", "not valid JSON"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 0]]})"), {"policy.json", "1 rows"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0,0,5,0,0]})"), {"policy.json", "step 1, state 0", "is 5"}));
}

TEST(ExternalPlanner, RefusesCommandsThatCannotWork) {
    EXPECT_THROW(ExternalPlanner({.command = "plan {model}"}), InvalidArgument);
    EXPECT_THROW(ExternalPlanner({.command = "plan {policy}"}), InvalidArgument);
    EXPECT_THROW(ExternalPlanner({.command = ""}), InvalidArgument);
    EXPECT_THROW(ExternalPlanner({.command = "{model} {policy}", .format = "xls"}), InvalidArgument);
    EXPECT_THROW(ExternalPlanner({.command = "{model} {policy}", .time_limit = 0}), InvalidArgument);
    EXPECT_THROW(ExternalPlanner({.command = "{model} {policy}", .time_limit = std::nan("")}),
                 InvalidArgument);
}

TEST(PlanningModel, JsonHoldsEveryProbabilityAndReward) {
    const TemporaryFolder folder;
    const MixtureModel model = small_model(true);
    Stream random = support::test_stream(4);
    const Reward reward = support::random_reward(random, shape);
    find_planning_format("json").write(folder / "m.json", model, reward);
    const auto document = nlohmann::json::parse(bytes_of(folder / "m.json"));
    EXPECT_EQ(document["format"], "alidade-model");
    EXPECT_EQ(document["states"], 2);
    EXPECT_EQ(document["actions"], 3);
    EXPECT_EQ(document["horizon"], 2);
    double start = 0;
    for (const auto& atom : document["start"]) start += atom[1].get<double>();
    EXPECT_NEAR(start, 1, 1e-15);
    for (std::size_t h = 0; h < 2; ++h) {
        for (std::size_t pair = 0; pair < 6; ++pair) {
            const auto step = static_cast<Step>(h);
            EXPECT_EQ(document["rewards"][h][pair], reward.at(step)[pair]);
            const auto begin = document["offsets"][pair].get<std::size_t>();
            const auto end = document["offsets"][pair + 1].get<std::size_t>();
            const auto law = model.probabilities(step, static_cast<Index>(pair));
            ASSERT_EQ(end - begin, law.size());
            for (std::size_t i = 0; i < law.size(); ++i) {
                EXPECT_EQ(document["probabilities"][h][begin + i], law[i]);
                EXPECT_EQ(document["targets"][begin + i],
                          model.features().targets(static_cast<Index>(pair))[i]);
            }
        }
    }
}

TEST(PlanningModel, WhatIsTheSameAtAllStepsIsWrittenOnceInJson) {
    const TemporaryFolder folder;
    const MixtureModel model =
        support::random_model(3, {.shape = shape, .successors = 2, .homogeneous = true});
    find_planning_format("json").write(folder / "m.json", model,
                                       Reward(shape, {0.0, 0.1, 0.2, 0.3, 0.4, 0.5}));
    const auto document = nlohmann::json::parse(bytes_of(folder / "m.json"));
    EXPECT_EQ(document["probabilities"].size(), 1u);
    EXPECT_EQ(document["rewards"], nlohmann::json::parse("[[0.0, 0.1, 0.2, 0.3, 0.4, 0.5]]"));
}

TEST(PlanningModel, NpzHasOneRowForEachStepStateAndAction) {
    const TemporaryFolder folder;
    const MixtureModel model = small_model(true);
    Stream random = support::test_stream(4);
    const Reward reward = support::random_reward(random, shape);
    find_planning_format("npz").write(folder / "m.npz", model, reward);
    const detail::NpzArrays arrays = detail::read_npz(folder / "m.npz");
    EXPECT_EQ(arrays.at("shape").integers, (std::vector<std::int64_t>{12, 2}));
    EXPECT_EQ(arrays.at("horizon").integers, (std::vector<std::int64_t>{2}));
    EXPECT_EQ(arrays.at("rewards").reals, reward.values());
    EXPECT_EQ(arrays.at("rewards").shape, (std::vector<std::int64_t>{2, 2, 3}));
    const auto& indptr = arrays.at("indptr").integers;
    for (std::size_t row = 0; row < 12; ++row) {
        const auto pair = static_cast<Index>(row % 6);
        const auto law = model.probabilities(static_cast<Step>(row / 6), pair);
        ASSERT_EQ(indptr[row + 1] - indptr[row], static_cast<std::int64_t>(law.size()));
        for (std::size_t i = 0; i < law.size(); ++i) {
            const auto at = static_cast<std::size_t>(indptr[row]) + i;
            EXPECT_EQ(arrays.at("data").reals[at], law[i]);
            EXPECT_EQ(arrays.at("indices").integers[at], model.features().targets(pair)[i]);
        }
    }
    for (const auto& [state, probability] : model.start().atoms())
        EXPECT_EQ(arrays.at("start").reals[static_cast<std::size_t>(state)], probability);
}

TEST(PlanningModel, EveryFormatForModelsWritesTheUnrolledModel) {
    const TemporaryFolder folder;
    for (const bool start_law : {false, true}) {
        const MixtureModel model = small_model(start_law);
        Stream random = support::test_stream(4);
        const Reward reward = support::random_reward(random, shape);
        find_planning_format("drn").write(folder / "m.drn", model, reward);
        const ExplicitModel written = detail::read_drn(folder / "m.drn");
        const Index states = start_law ? 6 : 5;
        ASSERT_EQ(written.header.states, states);
        EXPECT_EQ(written.header.rewards, std::vector<std::string>{"r"});
        EXPECT_EQ(written.header.initial_states,
                  std::vector<std::int64_t>{start_law ? 5 : model.start().atoms()[0].first});
        for (std::size_t state = 0; state < 4; ++state) {
            const ExplicitState& row = written.states[state];
            ASSERT_EQ(row.choices(), 3);
            const auto h = static_cast<Step>(state / 2);
            for (std::size_t a = 0; a < 3; ++a) {
                const auto pair = static_cast<Index>(state % 2 * 3 + a);
                EXPECT_EQ(row.choice_rewards[a], reward.at(h)[static_cast<std::size_t>(pair)]);
                const auto first = static_cast<std::size_t>(row.offsets[a]);
                const auto law = model.probabilities(h, pair);
                ASSERT_EQ(row.offsets[a + 1] - row.offsets[a], h == 1 ? 1 : std::ssize(law));
                if (h == 1) {
                    EXPECT_EQ(row.targets[first], 4);
                }
                for (std::size_t i = 0; h == 0 && i < law.size(); ++i) {
                    EXPECT_EQ(row.targets[first + i], 2 + model.features().targets(pair)[i]);
                    EXPECT_NEAR(row.lower[first + i], law[i], 1e-15);
                }
            }
        }
        EXPECT_EQ(written.states[4].targets, std::vector<std::int64_t>{4});
        if (start_law) {
            EXPECT_EQ(written.states[5].targets.size(), model.start().atoms().size());
        }
    }
    for (const PlanningFormat& format : planning_formats())
        EXPECT_NO_THROW(
            format.write(folder / ("m" + format.extension), small_model(), Reward::constant(shape, 1)))
            << format.name;
}

}  // namespace
}  // namespace alidade::testing::external_planner_test
