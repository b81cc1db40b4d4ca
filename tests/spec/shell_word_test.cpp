#include "alidade/spec/printable_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

namespace alidade::shell_word_test {
namespace {

/// What /bin/sh makes of a command that prints its words, each between brackets.
std::string words_in_sh(const std::string& words) {
    const std::string command = "for word in " + words + "; do printf '[%s]' \"$word\"; done";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    std::array<char, 256> block;
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), pipe.get()))
        text.append(block.data(), count);
    return text;
}

const std::array<std::string, 22> hard = {"plain",
                                          "with space",
                                          "it's",
                                          "$HOME",
                                          "`id`",
                                          "a\"b",
                                          "back\\slash",
                                          "*",
                                          "a;b|c&d",
                                          "-o",
                                          "~",
                                          "",
                                          "two\nlines",
                                          "\x1b[31mred",
                                          "100%",
                                          "a\tb%d\\n",
                                          "builtin:a?b=1&c=2",
                                          "Zürich",
                                          "!history",
                                          "#comment",
                                          "(x)",
                                          "\xff raw"};

TEST(ShellWord, IsReadByTheShellAsTheTextItself) {
    for (const std::string& text : hard) EXPECT_EQ(words_in_sh(shell_word(text)), "[" + text + "]") << text;
}

TEST(ShellWord, QuotesOnlyWhereItMust) {
    for (const char* text : {"plain", "runs/week-3_a.json", "builtin:inventory", "x=1", "a@b,c+d%"})
        EXPECT_EQ(shell_word(text), text);
    EXPECT_EQ(shell_word("builtin:garnet?states=20&horizon=5"), "'builtin:garnet?states=20&horizon=5'");
    EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

TEST(ShellWord, CanBePrintedOnATerminal) {
    for (const std::string& text : hard) EXPECT_EQ(printable(shell_word(text)), shell_word(text)) << text;
}

TEST(ShellWord, KeepsPathsAndValuesFromLookingLikeFlags) {
    EXPECT_EQ(words_in_sh(shell_path("-o x")), "[./-o x]");
    EXPECT_EQ(words_in_sh(shell_flag("--reward", "-x y")), "[--reward=-x y]");
    EXPECT_EQ(words_in_sh(shell_flag("--reward", "a b")), "[--reward][a b]");
}

}  // namespace
}  // namespace alidade::shell_word_test
