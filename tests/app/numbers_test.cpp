#include "numbers.hpp"

#include <gtest/gtest.h>

#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

TEST(Counts, AreReadInEveryUsualSpelling) {
    for (const char* text : {"100000", "100_000", "1e5", "1E5", "10.0e4", "1_00e3"})
        EXPECT_EQ(parse_count(text, "--episodes", 1), 100000) << text;
    EXPECT_EQ(parse_count("9223372036854775807", "--episodes", 1), 9223372036854775807);
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

TEST(Tables, WrapTheWordsOfTheLastColumn) {
    Table table({{"n"}, {"meaning", Table::Align::left}});
    table.add({"1", "one two three four five six"});
    EXPECT_EQ(table.text(26), "  n  meaning\n  1  one two three four\n     five six\n");
    EXPECT_EQ(table.text(), "  n  meaning\n  1  one two three four five six\n");
}

}  // namespace
}  // namespace alidade::app
