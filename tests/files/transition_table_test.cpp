#include <gtest/gtest.h>

#include <vector>

#include "alidade/error.hpp"
#include "alidade/files/episode_file.hpp"

namespace alidade::testing::transition_table {
namespace {

const std::vector<std::string> states{"low", "high, very", "2"}, actions{"wait", "push"};

std::vector<LoggedEpisode> read(const std::string& text, const std::string& columns = {}) {
    std::vector<LoggedEpisode> episodes;
    visit_episodes(text, "log.csv",
                   {.shape = {3, 2, 3}, .state_names = states, .action_names = actions, .columns = columns},
                   [&](const LoggedEpisode& episode) { episodes.push_back(episode); });
    return episodes;
}

std::string refused(const std::string& text, const std::string& columns = {}) {
    try {
        read(text, columns);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

constexpr const char* header = "episode,step,state,action,next_state\n";

TEST(TransitionTable, ReadsARowATransition) {
    const std::string text = std::string(header) +
                             "a,0,0,1,1\n"
                             "a,1,1,0,2\n"
                             "a,2,2,1,0\n"  // what follows the last step is not recorded
                             "b,0,0,0,0\n"
                             "\n"
                             "c,0,1,,\n";
    const std::vector<LoggedEpisode> expected{{{0, 1, 2}, {1, 0, 1}}, {{0, 0}, {0}}, {{1}, {}}};
    EXPECT_EQ(read(text), expected);
    EXPECT_EQ(read("\xEF\xBB\xBF" + text), expected);
}

TEST(TransitionTable, ReadsNamesAndChosenColumns) {
    const std::vector<LoggedEpisode> expected{{{0, 1, 2}, {1, 0}}};
    EXPECT_EQ(read("when, t ,what,\"s\",then,run\r\n"
                   "x,0,push,low,\"high, very\",7\r\n"
                   "x,1,wait,\"high, very\",2,7\r\n",
                   "episode=run,step=t,action=what,state=s,next_state=then"),
              expected);
}

TEST(TransitionTable, SaysWhatIsWrongAndOnWhichLine) {
    const auto row = [](const std::string& rows) { return refused(header + rows); };
    EXPECT_NE(refused("episode,step,state,action\n").find("next_state"), std::string::npos);
    EXPECT_NE(row("a,0,0,1\n").find("log.csv:2: 4 cells"), std::string::npos);
    EXPECT_NE(row("a,1,0,1,1\n").find("must be 0"), std::string::npos);
    EXPECT_NE(row("a,0,3,1,1\n").find("log.csv:2: "), std::string::npos);
    EXPECT_NE(row("a,0,lwo,1,1\n").find("no state 'lwo'"), std::string::npos);
    EXPECT_NE(row("a,0,0,1,1\na,1,0,1,1\n").find("log.csv:3: "), std::string::npos);
    EXPECT_NE(row("a,0,0,1,1\nb,0,0,1,1\na,1,1,1,1\n").find("goes on here"), std::string::npos);
    EXPECT_NE(row("a,0,0,,1\n").find("without an action"), std::string::npos);
    EXPECT_NE(row("a,0,0,1,\na,1,0,1,1\n").find("after the end"), std::string::npos);
    EXPECT_NE(row("a,0,\"0,1,1\n").find("not closed"), std::string::npos);
    EXPECT_NE(row("a,0,0,1,1\na,1,1,1,1\na,2,1,1,1\na,3,1,1,1\n").find("steps 0 to 2"), std::string::npos);
    EXPECT_NE(refused(header, "weight=x").find("columns: 'weight=x'"), std::string::npos);
}

TEST(TransitionTable, NeverCrashesOnWhatItIsGiven) {
    unsigned chance = 1;
    const std::string letters = "a0,1\"\n2\r ,,";
    for (int i = 0; i < 20000; ++i) {
        std::string text = header;
        for (int k = 0; k < 30; ++k) {
            chance = chance * 1664525U + 1013904223U;
            text += letters[(chance >> 16U) % letters.size()];
        }
        refused(text);
    }
}

TEST(EpisodesByName, AreReadFromLinesToo) {
    std::vector<LoggedEpisode> episodes;
    visit_episodes(R"({"states": ["low", 1, "2"], "actions": ["push", 0]})", "log.jsonl",
                   {.shape = {3, 2, 3}, .state_names = states, .action_names = actions},
                   [&](const LoggedEpisode& episode) { episodes.push_back(episode); });
    EXPECT_EQ(episodes, (std::vector<LoggedEpisode>{{{0, 1, 2}, {1, 0}}}));
}

}  // namespace
}  // namespace alidade::testing::transition_table
