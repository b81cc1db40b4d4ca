#include "alidade/formats/gym_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "alidade/formats/explicit_kernel.hpp"
#include "alidade/formats/layered_view.hpp"
#include "alidade/formats/model_formats.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"
#include "support/learned_models.hpp"

namespace alidade::testing::gym_file_test {
namespace {

using support::random_explicit_model;
using support::test_stream;

/// What a P dictionary keeps of a model: one reward, by another name, and only if it is not 0 everywhere.
ExplicitModel kept(ExplicitModel model) {
    bool rewarded = false;
    for (const ExplicitState& row : model.states)
        for (const double reward : row.choice_rewards) rewarded = rewarded || reward != 0;
    model.header.rewards.clear();
    if (rewarded) {
        model.header.rewards = {"reward"};
        return model;
    }
    for (ExplicitState& row : model.states) {
        row.state_rewards.clear();
        row.choice_rewards.clear();
    }
    return model;
}

TEST(Gym, PointModelsReadBackAsTheyWere) {
    const TemporaryFolder folder;
    Stream random = test_stream(1);
    for (int i = 0; i < 200; ++i) {
        ExplicitModel model;
        do {
            model = random_explicit_model(random,
                                          {.action_names = false, .labels = false, .state_rewards = false});
        } while (model.header.rewards.size() > 1);
        const auto path = folder / fmt::format("{}.json", i);
        detail::write_gym(path, RowsOfModel(model));
        EXPECT_EQ(detail::read_gym(path), kept(model)) << bytes_of(path);
    }
}

TEST(Gym, ALayeredModelTerminatesAtItsEnd) {
    const TemporaryFolder folder;
    support::RandomSizes sizes;
    sizes.shape = {3, 2, 2};
    sizes.successors = 2;
    sizes.start_law = true;
    const LearnedMixture learned = support::knowledge_about(support::random_model(4, sizes), 4, 1).mixture();
    Stream random = test_stream(4);
    const LayeredView view(learned, {.rewards = {{"r", support::random_reward(random, sizes.shape)}}});
    detail::write_gym(folder / "p.json", view);
    EXPECT_TRUE(says(bytes_of(folder / "p.json"), {"[1, 6, 0, true]"}));
    const ExplicitModel read = detail::read_gym(folder / "p.json");
    const ExplicitModel whole = collect(view);
    EXPECT_EQ(read.header.labels, std::vector<std::string>{"end"});
    EXPECT_EQ(read.header.initial_states, whole.header.initial_states);
    for (std::size_t s = 0; s < whole.states.size(); ++s) {
        EXPECT_EQ(read.states[s].targets, whole.states[s].targets);
        EXPECT_EQ(read.states[s].lower, whole.states[s].lower);
        EXPECT_EQ(read.states[s].choice_rewards, whole.states[s].choice_rewards);
        EXPECT_EQ(read.states[s].labels.empty(), s != 6);
    }
}

TEST(Gym, FrozenLakeOfGymnasiumIsRead) {
    // env.unwrapped.P of FrozenLake-v1 (4x4, slippery) of gymnasium 1.4.0, dumped as docs/formats.md says.
    const ExplicitModel lake = detail::read_gym(data("gymnasium_frozen_lake.json"));
    EXPECT_EQ(lake.header.states, 16);
    EXPECT_EQ(lake.header.choices, 64);
    EXPECT_EQ(lake.header.initial_states, std::vector<std::int64_t>{0});
    // In the corner two of the three directions of "left" run against the border.
    EXPECT_EQ(lake.states[0].targets[0], 0);
    EXPECT_NEAR(lake.states[0].lower[0], 2.0 / 3, 1e-15);
    const std::vector<Index> over{5, 7, 11, 12, 15};
    for (Index s = 0; s < 16; ++s)
        EXPECT_EQ(lake.states[static_cast<std::size_t>(s)].labels.size(),
                  static_cast<std::size_t>(std::count(over.begin(), over.end(), s)))
            << s;
    // From 14 to the right: one third goes into the goal and earns 1.
    EXPECT_NEAR(lake.states[14].choice_rewards[2], 1.0 / 3, 1e-15);
    EXPECT_EQ(detail::base_kernel_of(lake, "lake").rows, 64);
}

TEST(Gym, ListsWithoutAWrapperAreRead) {
    const ExplicitModel model = detail::parse_gym(
        "[[[[0.25, 0, 1, false], [0.5, 1, 0.5, false], [0.25, 0, 3, false]]], "
        "[[[1, 1, 0, false], [0.0, 0, 7, true]]]]",
        "p.json");
    EXPECT_EQ(model.states[0].targets, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(model.states[0].lower, (std::vector<double>{0.5, 0.5}));
    EXPECT_EQ(model.states[0].choice_rewards, std::vector<double>{0.25 + 0.25 + 0.75});
    EXPECT_EQ(model.header.initial_states, std::vector<std::int64_t>{0});
    EXPECT_TRUE(model.header.labels.empty());
}

TEST(Gym, AnEpisodeThatIsOverInALivelyStateEnds) {
    // State 1 goes on and earns; arriving there "terminated" must not.
    const ExplicitModel model = detail::parse_gym(
        R"({"P": [[[[0.5, 1, 1, true], [0.5, 1, 1, false]]], [[[1.0, 0, 2, false]]]],
            "initial_state_distrib": [0.25, 0.75]})",
        "p.json");
    EXPECT_EQ(model.header.states, 4);
    EXPECT_EQ(model.header.labels, (std::vector<std::string>{"end", "start"}));
    EXPECT_EQ(model.states[0].targets, (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(model.states[2].targets, std::vector<std::int64_t>{2});
    EXPECT_EQ(model.states[3].targets, (std::vector<std::int64_t>{0, 1}));
    EXPECT_EQ(model.states[3].lower, (std::vector<double>{0.25, 0.75}));
    EXPECT_EQ(model.header.initial_states, std::vector<std::int64_t>{3});
}

TEST(Gym, WhatIsWrongIsNamedWithItsPlace) {
    using Case = std::pair<std::string, std::vector<std::string>>;
    const std::vector<Case> cases{
        {"", {"p.json", "JSON"}},
        {"[[[[1, 0", {"p.json", "JSON", "line 1"}},
        {"3", {"P: is 3"}},
        {"{}", {"P: is empty"}},
        {"[[]]", {"P[0]", "empty"}},
        {"[[[]]]", {"P[0][0]", "positive probability"}},
        {"[[[[0.0, 0, 0, false]]]]", {"P[0][0]", "positive probability"}},
        {"[[[[1, 0, 0]]]]", {"P[0][0]", "[1,0,0]"}},
        {"[[[[1, 1, 0, false]]]]", {"P[0][0], next state", "1"}},
        {"[[[[1, -1, 0, false]]]]", {"P[0][0], next state", "-1"}},
        {"[[[[1, 0.5, 0, false]]]]", {"P[0][0], next state", "0.5"}},
        {"[[[[-0.5, 0, 0, false], [1.5, 0, 0, false]]]]", {"P[0][0]", "-0.5"}},
        {"[[[[\"1\", 0, 0, false]]]]", {"P[0][0], probability"}},
        {"[[[[1, 0, null, false]]]]", {"P[0][0], reward"}},
        {"[[[[1, 0, 0, 2]]]]", {"P[0][0], terminated"}},
        {"[[[[1e999, 0, 0, false]]]]", {"p.json"}},
        {"[[[[0.5, 0, 0, false]]]]", {"state 0, choice 0", "0.5"}},
        {R"({"0": {"1": [[1, 0, 0, false]]}})", {"P[0]", "\"0\""}},
        {R"({"a": {"0": [[1, 0, 0, false]]}})", {"P:", "\"0\""}},
        {R"({"P": [[[[1, 0, 0, false]]]], "nS": 1})", {"nS"}},
        {R"({"P": [[[[1, 0, 0, false]]]], "initial_state_distrib": [0.5, 0.5]})", {"2 elements", "1"}},
        {R"({"P": [[[[1, 0, 0, false]]]], "initial_state_distrib": [0.5]})", {"sums to 0.5"}},
        {R"({"P": [[[[1, 0, 0, false]]]], "initial_state_distrib": [-1]})", {"-1"}},
    };
    for (const auto& [text, parts] : cases) {
        const std::string message = refusal([&] { detail::parse_gym(text, "p.json"); });
        for (const std::string& part : parts) EXPECT_TRUE(says(message, {"p.json", part})) << text;
    }
    EXPECT_TRUE(says(refusal([] { detail::parse_gym(std::string(100000, '['), "p.json"); }), {"JSON"}));
    EXPECT_NO_THROW(detail::parse_gym("[[[[0.5, 0, 0, false]]]]", "p.json", {.normalise = true}));
}

TEST(Gym, OtherKindsAndSeveralRewardsAreRefused) {
    const TemporaryFolder folder;
    Stream random = test_stream(2);
    for (const BranchKind kind : {BranchKind::interval, BranchKind::parametric}) {
        const ExplicitModel model = random_explicit_model(random, {.kind = kind});
        EXPECT_TRUE(says(refusal([&] { detail::write_gym(folder / "p.json", RowsOfModel(model)); }),
                         {"p.json", "one probability"}));
        EXPECT_TRUE(says(
            refusal([&] { write_model(find_model_format("gym"), folder / "p.json", RowsOfModel(model)); }),
            {"gym", "it holds point"}));
    }
    ExplicitModel model;
    model.header = {BranchKind::point, 1, 1, 1, {}, {}, {}, {"a", "b"}, {0}};
    model.states = {{{}, {-1}, {0, 1}, {0}, {1}, {}, {}, {0, 0}, {0, 0}}};
    EXPECT_TRUE(
        says(refusal([&] { detail::write_gym(folder / "p.json", RowsOfModel(model)); }), {"2", "a, b"}));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ModelFormats, FilesAreToldByTheirExtensions) {
    EXPECT_EQ(model_format_of("a/b.drn"), &find_model_format("drn"));
    EXPECT_EQ(model_format_of("a/b.json"), &find_model_format("gym"));
    EXPECT_EQ(model_format_of("a/b.txt"), nullptr);
    EXPECT_TRUE(says(refusal([] { find_model_format("jani"); }), {"jani", "drn, gym"}));
    EXPECT_TRUE(says(refusal([] { read_model("b.txt"); }), {"b.txt", ".drn, .json"}));
    EXPECT_TRUE(says(refusal([] { read_model("missing.drn"); }), {"missing.drn", "no such file"}));
    const ExplicitModel tiny = read_model(data("storm_imdp.drn"));
    EXPECT_EQ(tiny.header.kind, BranchKind::interval);
}

}  // namespace
}  // namespace alidade::testing::gym_file_test
