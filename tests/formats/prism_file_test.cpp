#include "alidade/formats/prism_file.hpp"

#include <gtest/gtest.h>

#include "alidade/random/stream.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::prism_file_test {
namespace {

using support::ExplicitFeatures;

/// What the model becomes when names of actions are listed as they are met.
ExplicitModel with_actions_as_met(ExplicitModel model) {
    std::vector<std::int32_t> number(model.header.actions.size(), -1);
    std::vector<std::string> met;
    for (ExplicitState& row : model.states)
        for (std::int32_t& action : row.actions) {
            if (action < 0) continue;
            auto& place = number[static_cast<std::size_t>(action)];
            if (place < 0) {
                place = static_cast<std::int32_t>(met.size());
                met.push_back(model.header.actions[static_cast<std::size_t>(action)]);
            }
            action = place;
        }
    model.header.actions = met;
    return model;
}

TEST(PrismFile, ReadsWhatItWrote) {
    const TemporaryFolder folder;
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval})
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            Stream random(seed, Purpose::test);
            ExplicitFeatures with;
            with.kind = kind;
            with.zero_probabilities = true;
            const ExplicitModel model = support::random_explicit_model(random, with);
            // Fresh names: replacing a file waits for the disk on some file systems.
            const auto path = folder / fmt::format("m{}-{}.tra", static_cast<int>(kind), seed);
            detail::write_prism(path, RowsOfModel(model));
            ASSERT_EQ(detail::read_prism(path), with_actions_as_met(model)) << "seed " << seed;
        }
}

TEST(PrismFile, ReadsWhatItWroteForStorm) {
    const TemporaryFolder folder;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Stream random(seed, Purpose::test);
        ExplicitModel model = support::random_explicit_model(random);
        for (ExplicitState& row : model.states) {
            for (double& reward : row.state_rewards) reward = std::abs(reward);
            for (double& reward : row.choice_rewards) reward = std::abs(reward);
        }
        const auto path = folder / fmt::format("m{}-.tra", seed);
        detail::write_prism(path, RowsOfModel(model), detail::PrismDialect::storm);
        // Storm's files have no place for the names of rewards.
        auto& names = model.header.rewards;
        if (names.size() == 1) names = {"reward"};
        if (names.size() == 2) names = {"reward1", "reward2"};
        ASSERT_EQ(detail::read_prism(path), with_actions_as_met(model)) << "seed " << seed;
    }
}

/// Two states, by hand.
ExplicitModel two_states() {
    ExplicitModel model;
    model.header = {BranchKind::point, 2, 3, 4, {}, {"go on", "go_on"}, {"max", "2nd"}, {"a-b"}, {1}};
    model.states.resize(2);
    model.states[0] = {{0}, {0, 1}, {0, 2, 3}, {0, 1, 1}, {0.125, 0.875, 1}, {}, {}, {0}, {0, 2}};
    model.states[1] = {{0, 1}, {-1}, {0, 1}, {1}, {1}, {}, {}, {-1e-7}, {0}};
    return model;
}

TEST(PrismFile, WritesTheFilesOfThePrismManual) {
    const TemporaryFolder folder;
    const auto files = detail::write_prism(folder / "m.tra", RowsOfModel(two_states()));
    EXPECT_EQ(files, (std::vector<std::filesystem::path>{folder / "m.tra", folder / "m.sta", folder / "m.lab",
                                                         folder / "m.srew", folder / "m.trew"}));
    // Names become identifiers, and no two the same.
    EXPECT_EQ(bytes_of(folder / "m.tra"),
              "2 3 4\n0 0 0 0.125 go_on_2\n0 0 1 0.875 go_on_2\n0 1 1 1 go_on\n1 0 1 1\n");
    EXPECT_EQ(bytes_of(folder / "m.sta"), "(state)\n0:(0)\n1:(1)\n");
    EXPECT_EQ(bytes_of(folder / "m.lab"), "0=\"init\" 1=\"max_\" 2=\"_2nd\"\n0: 1\n1: 0 1 2\n");
    EXPECT_EQ(bytes_of(folder / "m.srew"), "# Reward structure \"a_b\"\n# State rewards\n2 1\n1 -1e-07\n");
    EXPECT_EQ(bytes_of(folder / "m.trew"),
              "# Reward structure \"a_b\"\n# Transition rewards\n2 3 1\n0 1 1 2\n");
}

TEST(PrismFile, WritesTheFilesOfStormsExplicitParser) {
    const TemporaryFolder folder;
    ExplicitModel model = two_states();
    const auto write = [&] {
        detail::write_prism(folder / "m.tra", RowsOfModel(model), detail::PrismDialect::storm);
    };
    EXPECT_TRUE(says(refusal(write), {"m.tra", "-1e-07", "negative"}));
    model.states[1].state_rewards = {1e-7};
    write();
    EXPECT_EQ(bytes_of(folder / "m.tra"),
              "mdp\n0 0 0 0.125 go_on_2\n0 0 1 0.875 go_on_2\n0 1 1 1 go_on\n1 0 1 1\n");
    EXPECT_EQ(bytes_of(folder / "m.lab"), "#DECLARATION\ninit max_ _2nd\n#END\n0 max_\n1 init max_ _2nd\n");
    // Never empty: Storm cannot open an empty file.
    EXPECT_EQ(bytes_of(folder / "m.srew"), "0 0\n1 1e-07\n");
    EXPECT_EQ(bytes_of(folder / "m.trew"), "0 0 0 0\n0 1 1 2\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "m.sta"));
}

TEST(PrismFile, LeavesNoRewardsOfAnEarlierModelBehind) {
    const TemporaryFolder folder;
    ExplicitModel model = two_states();
    model.header.rewards = {"a", "b"};
    for (ExplicitState& row : model.states) {
        row.state_rewards = {1, 2};
        row.choice_rewards.assign(2 * static_cast<std::size_t>(row.choices()), 0.0);
    }
    detail::write_prism(folder / "m.tra", RowsOfModel(model));
    EXPECT_TRUE(std::filesystem::exists(folder / "m2.srew"));
    detail::write_prism(folder / "m.tra", RowsOfModel(two_states()));
    EXPECT_FALSE(std::filesystem::exists(folder / "m1.srew") || std::filesystem::exists(folder / "m2.trew"));
    EXPECT_EQ(detail::read_prism(folder / "m.tra").header.rewards, (std::vector<std::string>{"a_b"}));
    detail::write_prism(folder / "m.tra", RowsOfModel(model));
    EXPECT_EQ(detail::read_prism(folder / "m.tra").header.rewards, (std::vector<std::string>{"a", "b"}));
}

TEST(PrismFile, ReadsMarkovChainsFractionsAndComments) {
    detail::PrismTexts texts;
    texts.transitions = "# a chain\n2 3\n0 1 2/3\n0 0 1/3\n\n1 1 1\n";
    texts.transition_rewards = {"2 2\n0 0 4\n0 1 4\n"};
    texts.state_rewards = {std::nullopt};
    const ExplicitModel model = detail::parse_prism(texts, "c");
    EXPECT_EQ(model.header.choices, 2);
    EXPECT_EQ(model.header.initial_states, (std::vector<std::int64_t>{0}));
    EXPECT_EQ(model.states[0].targets, (std::vector<std::int64_t>{0, 1}));
    EXPECT_DOUBLE_EQ(model.states[0].lower[1], 2.0 / 3);
    EXPECT_EQ(model.states[0].choice_rewards, (std::vector<double>{4}));
}

std::string refused(const detail::PrismTexts& texts) {
    return refusal([&] { detail::parse_prism(texts, "m"); });
}

std::string refused_transitions(std::string text) {
    detail::PrismTexts texts;
    texts.transitions = std::move(text);
    return refused(texts);
}

TEST(PrismFile, SaysFileAndLineOfABadTransition) {
    EXPECT_TRUE(says(refused_transitions(""), {"m.tra:0", "sizes"}));
    EXPECT_TRUE(says(refused_transitions("2 3 x\n"), {"m.tra:1", "'x'"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 1 a b\n"), {"m.tra:2", "'b'"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 1 1\n"), {"m.tra:2", "next state", "0 to 0"}));
    EXPECT_TRUE(says(refused_transitions("2 2 2\n1 0 1 1\n0 0 0 1\n"), {"m.tra:2", "state 1", "state 0"}));
    EXPECT_TRUE(says(refused_transitions("1 2 2\n0 1 0 1\n0 0 0 1\n"), {"m.tra:2", "choice 1", "choice 0"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 1.5\n"), {"m.tra:2", "1.5"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 nan\n"), {"m.tra:2", "nan"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 [0.5\n"), {"m.tra:2", "[0.5"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 [0.5,0.2]\n"), {"m.tra:2", "[0, 1]"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 [0.5,0.7]\n"), {"m.tra", "state 0", "0.7"}));
    EXPECT_TRUE(says(refused_transitions("1 1 2\n0 0 0 1\n"), {"m.tra", "1 transitions", "says 1, 1 and 2"}));
    EXPECT_TRUE(says(refused_transitions("2147483647 1 1\n0 0 0 1\n"), {"m.tra", "2147483647"}));
    EXPECT_TRUE(says(refused_transitions("1 1 2\n0 0 0 0.5 a\n0 0 0 0.5 b\n"), {"m.tra:3", "action"}));
    EXPECT_TRUE(says(refused_transitions("1 1 1\n0 0 0 0.9\n"), {"m.tra", "state 0", "0.9"}));
    EXPECT_TRUE(says(refused_transitions("mdp\n0 0 3 1\n"), {"m.tra", "state 3"}));
}

TEST(PrismFile, SaysFileAndLineOfBadLabelsStatesAndRewards) {
    detail::PrismTexts good;
    good.transitions = "2 2 3\n0 0 0 0.5\n0 0 1 0.5\n1 0 1 1\n";
    const auto with = [&](auto set) {
        detail::PrismTexts texts = good;
        set(texts);
        return refused(texts);
    };
    EXPECT_TRUE(says(with([](detail::PrismTexts& t) { t.labels = "1=\"init\"\n"; }), {"m.lab:1", "label 0"}));
    EXPECT_TRUE(says(with([](detail::PrismTexts& t) { t.labels = "0=\"init\" 1=\"init\"\n"; }),
                     {"m.lab:1", "twice"}));
    EXPECT_TRUE(
        says(with([](detail::PrismTexts& t) { t.labels = "0=\"init\"\n2: 0\n"; }), {"m.lab:2", "state"}));
    EXPECT_TRUE(
        says(with([](detail::PrismTexts& t) { t.labels = "0=\"init\"\n1: 1\n"; }), {"m.lab:2", "label"}));
    EXPECT_TRUE(
        says(with([](detail::PrismTexts& t) { t.labels = "0=\"a\"\n1: 0\n"; }), {"m.tra", "initial state"}));
    EXPECT_TRUE(
        says(with([](detail::PrismTexts& t) { t.labels = "#DECLARATION\ninit\n"; }), {"m.lab", "#END"}));
    EXPECT_TRUE(says(with([](detail::PrismTexts& t) { t.states = "(x)\n0:(0)\n"; }), {"m.sta", "1 states"}));
    EXPECT_TRUE(says(with([](detail::PrismTexts& t) { t.states = "(x)\n1:(0)\n"; }), {"m.sta:2", "state 0"}));
    const auto rewards = [&](const char* states, const char* transitions) {
        return with([&](detail::PrismTexts& t) {
            t.state_rewards = {std::string(states)};
            t.transition_rewards = {std::string(transitions)};
        });
    };
    EXPECT_TRUE(says(rewards("2 1\n2 1\n", ""), {"m.srew:2", "state"}));
    EXPECT_TRUE(says(rewards("2 1\n1 inf\n", ""), {"m.srew:2", "inf"}));
    EXPECT_TRUE(says(rewards("", "2 2 1\n1 0 0 1\n"), {"m.trew:2", "does not lead"}));
    EXPECT_TRUE(says(rewards("", "2 2 1\n1 1 1 1\n"), {"m.trew:2", "choice"}));
    EXPECT_TRUE(says(rewards("", "2 2 1\n0 0 1 7\n"), {"m.trew", "differs", "state 0, choice 0"}));
}

}  // namespace
}  // namespace alidade::testing::prism_file_test
