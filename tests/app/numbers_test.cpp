#include "numbers.hpp"

#include <gtest/gtest.h>

#include "alidade/spec/printable_text.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

TEST(Counts, AreReadInEveryUsualSpelling) {
    for (const char* text : {"100000", "100_000", "1e5", "1E5", "10.0e4", "1_00e3"})
        EXPECT_EQ(parse_count(text, "--episodes", 1), 100000) << text;
    EXPECT_EQ(parse_count("9223372036854775807", "--episodes", 1), 9223372036854775807);
}

// A double holds 53 bits: what goes through one is rounded, and 8e18 was said not to be whole.
TEST(Counts, AreReadExactlyUpToTheLargest) {
    const auto read = [](const char* text) { return parse_count(text, "--episodes", 1); };
    EXPECT_EQ(read("8e18"), 8'000'000'000'000'000'000);
    EXPECT_EQ(read("9.223372036854775807e18"), 9'223'372'036'854'775'807);
    EXPECT_EQ(read("9007199254740993.0"), 9'007'199'254'740'993);
    EXPECT_EQ(read("2.5e3"), 2500);
    EXPECT_EQ(read("25000e-1"), 2500);
    EXPECT_EQ(read("0.000001e+9"), 1000);
    EXPECT_EQ(parse_count("0e999", "--climb", 0), 0);
    for (const char* text : {"9223372036854775808", "9.3e18", "1e19", "1e300", "1e1000000000000"})
        EXPECT_THROW(read(text), UserError) << text;
    for (const char* text : {"2.5e0", "25e-1", "1e", "e5", ".", "1e5.0", "1e+-5", "+5", "0x10", "1__e_5x"})
        EXPECT_THROW(read(text), UserError) << text;
    EXPECT_THROW(parse_count("101", "--episodes", 1, 100), UserError);
    EXPECT_EQ(parse_count("100", "--episodes", 1, 100), 100);
}

TEST(Seeds, AreReadExactlyOrRefused) {
    EXPECT_EQ(parse_seed("0", "--seed"), 0u);
    EXPECT_EQ(parse_seed("18446744073709551615", "--seed"), 18'446'744'073'709'551'615u);
    EXPECT_EQ(parse_seed("0xff", "--seed"), 255u);
    for (const char* text :
         {"-1", "18446744073709551616", "99999999999999999999", "", "1.5", "1e3", "+1", " 1", "0x", "7up"})
        EXPECT_THROW(parse_seed(text, "--seed"), UserError) << text;
}

TEST(Counts, RefuseWhatIsNotAWholeNumberInRange) {
    for (const char* text : {"", "_", "0", "-3", "1.5", "1e-1", "ten", "1e5x", "1e300", "nan", "inf", " 5"})
        EXPECT_THROW(parse_count(text, "--episodes", 1), UserError) << text;
}

TEST(Numbers, AreWrittenForReading) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(1000), "1,000");
    EXPECT_EQ(with_commas(-1234567), "-1,234,567");
    EXPECT_EQ(with_commas(-123), "-123");
    EXPECT_EQ(rounded(0.45312), "0.4531");
    EXPECT_EQ(rounded(1.25e-7), "1.25e-07");
    EXPECT_EQ(upper_bound(0.45001), "0.4501");
    EXPECT_EQ(lower_bound(0.45009), "0.4500");
    EXPECT_EQ(upper_bound(1e-9), "0.0001");
    EXPECT_EQ(memory_size(1'500'000), "1.5 MB");
    EXPECT_EQ(duration(185), "3 min 05 s");
}

TEST(Tables, AlignCharactersNotBytes) {
    Table table({{"name", Table::Align::left}, {"n"}});
    table.add({"Zürich", "1"});
    table.add({"Bern", "22"});
    EXPECT_EQ(table.text(), "  name     n\n  Zürich   1\n  Bern    22\n");
    EXPECT_EQ(table.markdown(), "| name | n |\n|---|---:|\n| Zürich | 1 |\n| Bern | 22 |\n");
}

// An escape sequence in a name would colour the screen, and its bytes would be counted as columns.
TEST(Tables, SpellOutControlCharactersAndStayAligned) {
    Table table({{"na\x1bme", Table::Align::left}, {"n"}});
    table.add({"\x1b[31mred", "1"});
    table.add({"two\nlines", "22"});
    table.add({"漢字", "3"});
    EXPECT_EQ(table.text(),
              // Columns of 12 and 2: two\x0alines is the widest.
              "  na\\x1bme       n\n  \\x1b[31mred    1\n  two\\x0alines  22\n  漢字           3\n");
}

TEST(Tables, WrapTheWordsOfTheLastColumn) {
    Table table({{"n"}, {"meaning", Table::Align::left}});
    table.add({"1", "one two three four five six"});
    EXPECT_EQ(table.text(26), "  n  meaning\n  1  one two three four\n     five six\n");
    EXPECT_EQ(table.text(), "  n  meaning\n  1  one two three four five six\n");
}

}  // namespace
}  // namespace alidade::app
