#include "alidade/explore/schedule.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"

namespace alidade {
namespace {

TEST(Schedule, ReadsWhatItWrites) {
    for (const char* text : {"every", "doubling", "growth=0.1", "growth=2"})
        EXPECT_EQ(to_string(parse_schedule(text)), text);
    EXPECT_EQ(parse_schedule("growth"), Schedule{});
}

TEST(Schedule, RefusesWhatItDoesNotKnow) {
    for (const char* text :
         {"", "Every", "growth=", "growth=0", "growth=-1", "growth=11", "growth=0.1x", "nan"})
        EXPECT_THROW(parse_schedule(text), InvalidArgument) << text;
}

TEST(Schedule, RunsAtLeastOneEpisodeAndGrowsByItsRatio) {
    EXPECT_EQ(parse_schedule("every").batch(100000), 1);
    EXPECT_EQ(parse_schedule("growth=0.1").batch(0), 1);
    EXPECT_EQ(parse_schedule("growth=0.1").batch(1000), 100);
    EXPECT_EQ(parse_schedule("doubling").batch(49), 1);
    EXPECT_EQ(parse_schedule("doubling").batch(10000), 200);
}

}  // namespace
}  // namespace alidade
