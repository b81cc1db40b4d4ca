#include "alidade/explore/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::schedule_test {
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

TEST(Schedule, DoesNotOverflowNearTheLargestNumber) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    for (const char* text : {"growth=0.1", "growth=10", "doubling", "growth=1e-9"}) {
        const Schedule schedule = parse_schedule(text);
        std::int64_t before = 0;
        for (const std::int64_t episodes : {std::int64_t{0}, std::int64_t{1} << 53, largest / 10, largest}) {
            const std::int64_t batch = schedule.batch(episodes);
            EXPECT_GE(batch, std::max<std::int64_t>(1, before)) << text;
            before = batch;
        }
    }
    EXPECT_EQ(parse_schedule("growth=10").batch(largest), largest);
    // ln(9.2e18)/ln(1.1) is 459; the first batches, of one episode each, are 19.
    const std::int64_t batches = parse_schedule("growth=0.1").batches(largest);
    EXPECT_GT(batches, 430);
    EXPECT_LT(batches, 460);
    EXPECT_EQ(parse_schedule("every").most_policies(largest, 0), largest);
    // A ratio so small that no batch ever has two episodes.
    EXPECT_EQ(parse_schedule("growth=1e-300").batches(largest), largest);
}

TEST(Schedule, CountsItsBatchesAsIfOneByOne) {
    for (const char* text : {"every", "growth=0.1", "growth=0.013", "growth=3", "doubling"}) {
        const Schedule schedule = parse_schedule(text);
        std::int64_t whole = 0, end = schedule.batch(0);
        for (std::int64_t episodes = 0; episodes < 5000; ++episodes) {
            if (episodes == end) {
                ++whole;
                end += schedule.batch(end);
            }
            ASSERT_EQ(schedule.whole_batches(episodes), whole) << text << " " << episodes;
        }
    }
}

// Random budgets, each of which may cut a batch short: the bound holds after each, and without cuts it is the
// number of policies itself.
TEST(Schedule, BoundsThePoliciesOfARunHoweverOftenItIsExtended) {
    Stream random(11, Purpose::instance, 0, 0);
    for (const char* text : {"every", "growth=0.1", "growth=0.5", "growth=2", "doubling"}) {
        const Schedule schedule = parse_schedule(text);
        for (int run = 0; run < 200; ++run) {
            std::int64_t episodes = 0, policies = 1, cut = 0;
            for (int extension = 0; extension < 20; ++extension) {
                const std::int64_t budget = episodes + 1 + sample_index(random, 1 + episodes);
                while (episodes < budget) {
                    const std::int64_t asked = schedule.batch(episodes);
                    const std::int64_t told = std::min(asked, budget - episodes);
                    cut += told < asked ? 1 : 0;
                    episodes += told;
                    ++policies;
                }
                ASSERT_LE(policies, schedule.most_policies(episodes, cut)) << text;
                ASSERT_LE(schedule.most_policies(episodes, cut), schedule.batches(episodes) + 1 + extension)
                    << text;
                if (extension == 0) {
                    ASSERT_EQ(policies, schedule.most_policies(episodes, cut)) << text;
                    ASSERT_EQ(cut, schedule.lies_within_batch(episodes) ? 1 : 0) << text;
                }
            }
        }
    }
}

}  // namespace
}  // namespace alidade::schedule_test
