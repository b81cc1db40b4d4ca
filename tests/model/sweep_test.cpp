#include "alidade/model/sweep.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>

#include "support/random_models.hpp"

namespace alidade::sweep_test {
namespace {

const Shape shape{150, 3, 6};

TEST(Sweep, VisitsEveryStateOfEveryStepOnce) {
    for (const int threads : {1, 2, 4})
        for (const Index grain : {1, 64, 10'000}) {
            const detail::Sweep sweep(shape, threads, grain);
            std::vector<int> visits(at(shape.horizon * shape.states), 0);
            sweep.backwards(shape.horizon - 1, detail::no_scratch,
                            [&](detail::NoScratch, Step h, State first, State last) {
                                EXPECT_EQ(shape.pair(first, 0) % detail::Sweep::alignment, 0);
                                for (State s = first; s < last; ++s) ++visits[at(h * shape.states + s)];
                            });
            EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << threads << " threads, grain " << grain;
        }
}

TEST(Sweep, SplitsNothingForOneThreadOrTooLittleWork) {
    EXPECT_EQ(detail::Sweep(shape, 1, 1).chunks(), 1);
    EXPECT_EQ(detail::Sweep(shape, 8, shape.pairs()).chunks(), 1);
    EXPECT_EQ(detail::Sweep({1, 1, 1}, 8, 1).chunks(), 1);
}

// A chunk that began before all of the step before it had ended would read a number that is not there yet.
TEST(Sweep, EndsAStepBeforeTheNextBegins) {
    for (const int threads : {1, 2, 4}) {
        const detail::Sweep sweep(shape, threads, 1);
        const auto row = [](Step h) { return at(h * shape.states); };
        std::vector<std::int64_t> back(row(shape.horizon + 1), 1), forth(row(shape.horizon + 1), 1);
        const auto sum = [](const std::int64_t* numbers) {
            return std::accumulate(numbers, numbers + shape.states, std::int64_t{0}) % 1'000'003;
        };
        sweep.backwards(shape.horizon - 1, detail::no_scratch,
                        [&](detail::NoScratch, Step h, State first, State last) {
                            for (State s = first; s < last; ++s)
                                back[row(h) + at(s)] = sum(back.data() + row(h + 1)) + s;
                        });
        sweep.forwards(shape.horizon, detail::no_scratch,
                       [&](detail::NoScratch, Step h, State first, State last) {
                           for (State s = first; s < last; ++s)
                               forth[row(h + 1) + at(s)] = sum(forth.data() + row(h)) + s;
                       });
        std::int64_t total = shape.states;
        for (Step h = 0; h < shape.horizon; ++h) {
            for (State s = 0; s < shape.states; ++s) {
                ASSERT_EQ(forth[row(h + 1) + at(s)], total % 1'000'003 + s);
                ASSERT_EQ(back[row(shape.horizon - 1 - h) + at(s)], total % 1'000'003 + s);
            }
            total = shape.states * (total % 1'000'003) + shape.states * (shape.states - 1) / 2;
        }
    }
}

TEST(Sweep, MakesScratchOnceAChunkAndKeepsIt) {
    for (const int threads : {1, 3}) {
        const detail::Sweep sweep(shape, threads, 1);
        std::atomic<int> made = 0;
        std::vector<std::set<int>> scratch_of(at(shape.states));
        sweep.backwards(
            shape.horizon - 1, [&] { return made++; },
            [&](int own, Step, State first, State) { scratch_of[at(first)].insert(own); });
        EXPECT_EQ(made, sweep.chunks());
        for (const std::set<int>& own : scratch_of) EXPECT_LE(own.size(), 1U);
    }
}

TEST(Sweep, PassesOnWhatAChunkThrows) {
    for (const int threads : {1, 2}) {
        const detail::Sweep sweep(shape, threads, 1);
        const auto fail = [](detail::NoScratch, Step h, State, State last) {
            if (h == 2 && last == shape.states) throw std::runtime_error("here");
        };
        EXPECT_THROW(sweep.backwards(5, detail::no_scratch, fail), std::runtime_error);
    }
}

TEST(Sweep, DividesTheEntriesOfAPairByWhereTheyLead) {
    Stream random = support::test_stream(3);
    const auto features =
        support::random_features(random, {.shape = {40, 2, 2}, .features = 2, .successors = 6});
    for (Index pair = 0; pair < features->pairs(); ++pair)
        for (const State cut : {0, 1, 8, 24, 39, 40}) {
            const auto [begin, middle] = detail::entries_into(*features, pair, 0, cut);
            const auto [again, end] = detail::entries_into(*features, pair, cut, 40);
            EXPECT_EQ(begin, features->first_entry(pair));
            EXPECT_EQ(end, features->first_entry(pair + 1));
            EXPECT_EQ(middle, again);
            for (Index e = begin; e < middle; ++e) EXPECT_LT(features->targets()[at(e)], cut);
            for (Index e = middle; e < end; ++e) EXPECT_GE(features->targets()[at(e)], cut);
        }
}

TEST(Sweep, TakesTheFirstOfTheBestActions) {
    const std::vector<double> worth{0.5, 2, 2, -3, -4, -3};
    const auto value = [&](Index pair) { return worth[at(pair)]; };
    EXPECT_EQ(detail::best_action({2, 3, 1}, 0, -1, value).action, 1);
    EXPECT_EQ(detail::best_action({2, 3, 1}, 0, -1, value).value, 2);
    EXPECT_EQ(detail::best_action({2, 3, 1}, 1, -1, value).value, -1);
    EXPECT_EQ(detail::best_action({2, 3, 1}, 1, -10, value).action, 0);
}

TEST(Threads, AreAtLeastOne) {
    EXPECT_EQ(Threads().count(), 1);
    EXPECT_EQ(Threads(5).count(), 5);
    EXPECT_THROW(Threads(0), InvalidArgument);
    EXPECT_THROW(Threads(-3), InvalidArgument);
}

}  // namespace
}  // namespace alidade::sweep_test
