#include "alidade/process/systems.hpp"

#include "support/files.hpp"

namespace alidade::testing::systems_test {
namespace {

TEST(Systems, TheCatalogueHasThreeWords) {
    ASSERT_EQ(systems().size(), 3U);
    EXPECT_EQ(systems()[0].name, "simulated");
    EXPECT_EQ(systems()[1].name, "cmd");
    EXPECT_EQ(systems()[2].name, "ask");
}

TEST(Systems, RequestsAreTakenApart) {
    EXPECT_EQ(parse_system("simulated").canonical, "simulated");
    EXPECT_EQ(parse_system("simulated?method=splitting").canonical, "simulated");
    EXPECT_EQ(parse_system("simulated?method=stepwise").canonical, "simulated?method=stepwise");
    EXPECT_EQ(parse_system("ask").name, "ask");
    const SystemRequest command = parse_system("cmd:./plant --url 'http://a?b=c&d' | tee log");
    EXPECT_EQ(command.name, "cmd");
    EXPECT_EQ(command.command, "./plant --url 'http://a?b=c&d' | tee log");
    EXPECT_EQ(command.canonical, "cmd");
}

TEST(Systems, WhatThereIsNotIsRefused) {
    const auto refused = [](const char* text) { return refusal([&] { parse_system(text); }); };
    EXPECT_TRUE(says(refused("simulatd"), {"'simulatd'", "did you mean 'simulated'", "cmd:COMMAND", "ask"}));
    EXPECT_TRUE(says(refused("cmd"), {"cmd:COMMAND"}));
    EXPECT_TRUE(says(refused("cmd: "), {"no command"}));
    EXPECT_TRUE(says(refused("simulated?method=fast"), {"method", "splitting"}));
    EXPECT_TRUE(says(refused("ask?n=4"), {"n"}));
}

TEST(Systems, WordsAreQuotedForTheShell) {
    EXPECT_EQ(shell_command({"./plant", "--serve"}), "./plant --serve");
    EXPECT_EQ(shell_command({"./my plant", "it's", ""}), "'./my plant' 'it'\\''s' ''");
}

}  // namespace
}  // namespace alidade::testing::systems_test
