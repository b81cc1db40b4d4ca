#include "alidade/spec/printable_text.hpp"

#include <gtest/gtest.h>

#include "alidade/random/samplers.hpp"

namespace alidade::printable_text_test {
namespace {

TEST(PrintableText, LeavesWhatIsPrintable) {
    for (const char* text : {"", "plain", "Zürich", "θ ∈ C", "漢字", "a\\b", "👩‍🚀"})
        EXPECT_EQ(printable(text), text);
}

TEST(PrintableText, SpellsOutWhatATerminalActsOn) {
    EXPECT_EQ(printable("\x1b]0;title\a"), "\\x1b]0;title\\x07");
    EXPECT_EQ(printable("a\nb\rc\td\x7f"), "a\\x0ab\\x0dc\\x09d\\x7f");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\u009b31m");  // C1: one character for ESC [
    EXPECT_EQ(printable("\xe2\x80\xae"
                        "drowssap"),
              "\\u202edrowssap");  // turns the direction of writing
    EXPECT_EQ(printable("\xe2\x81\xa6"), "\\u2066");
}

TEST(PrintableText, SpellsOutBytesThatAreNoUtf8) {
    EXPECT_EQ(printable("\xff"), "\\xff");
    EXPECT_EQ(printable("\x9b"
                        "31m"),
              "\\x9b31m");
    EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut short
    EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // longer than need be
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

// Whatever the bytes: the result has no control byte, and is its own printable form.
TEST(PrintableText, IsSafeForAnyBytes) {
    Stream random(7, Purpose::instance, 0, 0);
    for (int trial = 0; trial < 2000; ++trial) {
        std::string text;
        for (Index i = sample_index(random, 12); i >= 0; --i)
            text += static_cast<char>(sample_index(random, 256));
        const std::string shown = printable(text);
        EXPECT_EQ(printable(shown), shown);
        for (const char c : shown) EXPECT_FALSE((c >= 0 && c < 0x20) || c == 0x7f);
    }
}

TEST(PrintableText, KnowsItsColumns) {
    EXPECT_EQ(display_width("Zürich"), 6u);
    EXPECT_EQ(display_width("漢字"), 4u);
    EXPECT_EQ(display_width("e\u0301"), 1u);
    EXPECT_EQ(display_width(printable("\x1b")), 4u);
}

}  // namespace
}  // namespace alidade::printable_text_test
