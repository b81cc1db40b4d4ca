#include "alidade/model/counts.hpp"

#include <gtest/gtest.h>

#include <map>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::counts_test {
namespace {

/// Three states in a line, one action: i to i or i+1; the last stays.
SharedFeatures line() {
    const BaseKernel kernel{"line", 3, 3, {0, 2, 4, 5}, {0, 1, 1, 2, 2}, {0.5, 0.5, 0.5, 0.5, 1}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, std::vector{kernel}));
}

TEST(Counts, CountTheTransitionsOfTheLearnedSteps) {
    Counts counts(line(), 3);
    counts.add({{0, 1, 2}, {0, 0, 0}});
    counts.add({{0, 0, 1}, {0, 0, 0}});
    EXPECT_EQ(counts.episodes(), 2);
    EXPECT_EQ(counts.visits(0, 0), 2);
    EXPECT_EQ(counts.count(0, 1), 1);  // 0 -> 1 at step 0
    EXPECT_EQ(counts.count(1, 3), 1);  // 1 -> 2 at step 1
    EXPECT_EQ(counts.visits(1, 2), 0);
    EXPECT_EQ(counts.dense().size(), 2u * 5u);
}

TEST(Counts, RefuseATransitionThatNoBaseModelCanProduceAndCountNothingOfIt) {
    Counts counts(line(), 3);
    try {
        counts.add({{0, 1, 0}, {0, 0, 0}});
        FAIL();
    } catch (const ModelContradiction& error) {
        EXPECT_STREQ(error.what(),
                     "step 1: state 1, action 0 led to state 0, which no base model can produce");
    }
    EXPECT_EQ(counts, Counts(line(), 3));
}

TEST(Counts, HaveACellForWhereNoBaseModelLeadsWhereSuchAreCounted) {
    Counts counts(line(), 3, Elsewhere::counted);
    counts.add({{0, 1, 0}, {0, 0, 0}});
    counts.add({{0, 2, 2}, {0, 0, 0}});
    counts.add({{0, 1, 0}, {0, 0, 0}});
    EXPECT_EQ(counts.episodes(), 3);
    EXPECT_EQ(counts.transitions(), 6);
    EXPECT_EQ(counts.visits(0, 0), 3);
    EXPECT_EQ(counts.visits(1, 1), 2);
    ASSERT_EQ(counts.elsewhere(0).size(), 1u);
    EXPECT_EQ(counts.elsewhere(0)[0], (SeenEntry{0, 1}));
    ASSERT_EQ(counts.elsewhere(1).size(), 1u);
    EXPECT_EQ(counts.elsewhere(1)[0], (SeenEntry{1, 2}));
    EXPECT_EQ(counts.pooled_elsewhere(), (std::vector<SeenEntry>{{0, 1}, {1, 2}}));
    // Written down and read back; elsewhere they are refused.
    Counts again(line(), 3, Elsewhere::counted), strict(line(), 3);
    again.take_record(counts.record());
    again.add_episodes(3);
    EXPECT_EQ(again, counts);
    EXPECT_THROW(strict.take_record(counts.record()), InvalidArgument);
    EXPECT_THROW(strict.add_elsewhere(0, 0, 1), InvalidArgument);
    EXPECT_THROW(strict += counts, InvalidArgument);
    EXPECT_FALSE(strict.any_elsewhere());
    std::vector<std::int64_t> cut = counts.record();
    cut[1] = 1000;
    EXPECT_THROW(again.take_record(cut), InvalidArgument);
    again += counts;
    EXPECT_EQ(again.visits(1, 1), 4);
    again.clear();
    EXPECT_FALSE(again.any_elsewhere());
    // Without any, the record is the one there always was.
    Counts none(line(), 3, Elsewhere::counted);
    none.add({{0, 1, 2}, {0, 0, 0}});
    EXPECT_EQ(none.record(), none.dense());
}

TEST(Counts, AddUpAndClear) {
    Counts a(line(), 3), b(line(), 3);
    a.add({{0, 1, 2}, {0, 0, 0}});
    b.add({{0, 1, 1}, {0, 0, 0}});
    a += b;
    EXPECT_EQ(a.visits(1, 1), 2);
    EXPECT_EQ(a.episodes(), 2);
    EXPECT_THROW(a += Counts(line(), 4), InvalidArgument);
    a.clear();
    EXPECT_EQ(a, Counts(line(), 3));
}

TEST(Counts, RefuseEpisodesThatDoNotFit) {
    Counts counts(line(), 3);
    EXPECT_THROW(counts.add({{0, 1}, {0, 0}}), InvalidArgument);
    EXPECT_THROW(counts.add({{0, 1, 3}, {0, 0, 0}}), InvalidArgument);
    EXPECT_THROW(counts.add({{0, 1, 2}, {0, 1, 0}}), InvalidArgument);
    EXPECT_THROW(Counts(nullptr, 3), InvalidArgument);
    EXPECT_THROW(Counts(line(), 0), InvalidArgument);
}

TEST(Counts, TakeEpisodesThatEndedEarlyAndCameOften) {
    Counts one(line(), 4), other(line(), 4);
    const std::vector<State> states{0, 1, 2};
    const std::vector<Action> actions{0, 0, 0};
    one.add(states, actions, 3);
    // The last action led nowhere that was seen, so it need not be there.
    for (int time = 0; time < 3; ++time) other.add(states, std::span(actions).first(2));
    EXPECT_EQ(one, other);
    EXPECT_EQ(one.episodes(), 3);
    EXPECT_EQ(one.count(1, 3), 3);
    EXPECT_EQ(one.visits(2, 2), 0);
    one.add(std::span(states).first(1), {});
    EXPECT_EQ(one.episodes(), 4);
    EXPECT_THROW(one.add({}, {}), InvalidArgument);
    EXPECT_THROW(one.add(states, std::span(actions).first(1)), InvalidArgument);
    EXPECT_THROW(one.add(states, actions, 0), InvalidArgument);
    EXPECT_EQ(one.episodes(), 4);
}

// Against a plain map: whatever comes in whatever order, with reads between.
TEST(Counts, AreWhatAMapWouldHold) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Stream random = support::test_stream(seed, 5);
        const auto features =
            support::random_features(random, {.shape = {40, 3, 4}, .features = 2, .successors = 6});
        Counts counts(features, 4), batch(features, 4);
        std::map<std::pair<Step, Index>, std::int64_t> plain;
        for (int round = 0; round < 6000; ++round) {
            const Step h = sample_index(random, 3);
            const Index entry = sample_index(random, features->entries());
            const std::int64_t times = sample_index(random, 4);
            Counts& taken = round % 3 == 0 ? batch : counts;
            taken.add(h, entry, times);
            if (times > 0) plain[{h, entry}] += times;
            if (round % 500 == 0) {
                counts += batch;
                batch.clear();
                EXPECT_EQ(counts.count(h, entry), (plain[{h, entry}]));
            }
        }
        counts += batch;
        std::int64_t all = 0;
        for (Step h = 0; h < 3; ++h)
            for (const auto& [entry, count] : counts.seen(h)) {
                EXPECT_EQ(count, (plain[{h, entry}]));
                all += count;
            }
        std::int64_t expected = 0;
        for (const auto& [place, count] : plain) expected += count;
        EXPECT_EQ(all, expected);
        EXPECT_EQ(counts.transitions(), expected);
        for (Index pair = 0; pair < features->pairs(); ++pair) {
            std::int64_t visits = 0;
            for (Index e = features->first_entry(pair); e < features->first_entry(pair + 1); ++e)
                visits += plain[{1, e}];
            EXPECT_EQ(counts.visits(1, pair), visits);
        }
        for (const auto& [entry, count] : counts.pooled())
            EXPECT_EQ(count, (plain[{0, entry}] + plain[{1, entry}] + plain[{2, entry}]));
    }
}

TEST(Counts, ComeBackFromARecordOfEitherKind) {
    Counts counts(line(), 3);
    counts.add({{0, 1, 2}, {0, 0, 0}});
    EXPECT_EQ(counts.record(), counts.dense());
    Counts again(line(), 3);
    again.take_record(counts.record());
    again.add_episodes(1);
    EXPECT_EQ(again, counts);
    // 0 -> 1 at step 0 and 1 -> 2 at step 1, of five entries a step.
    again.take_record(std::vector<std::int64_t>{-1, 1, 1, 5 + 3, 1});
    EXPECT_EQ(again, counts);
    for (const std::vector<std::int64_t>& bad : {std::vector<std::int64_t>{},
                                                 {0, 1},
                                                 {-1, 1},
                                                 {-1, 3, 1, 3, 1},
                                                 {-1, 10, 1},
                                                 {-1, 4, 0},
                                                 {-1, -2, 1},
                                                 {0, 0, 0, 0, 0, 0, 0, 0, 0, -1}}) {
        EXPECT_THROW(again.take_record(bad), InvalidArgument);
        EXPECT_EQ(again, counts);
    }
}

// A million entries and more are stored by those that were seen.
TEST(Counts, OfManyEntriesAreStoredByWhatWasSeen) {
    const Index states = 300'000;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> targets;
    for (Index s = 0; s <= states; ++s) offsets.push_back(2 * s);
    for (Index s = 0; s < states; ++s)
        for (const Index next : {std::min(s, states - 2), std::min(s + 1, states - 1)})
            targets.push_back(static_cast<std::int32_t>(next));
    const auto map = std::make_shared<const SuccessorMap>(states, 1, offsets, targets);
    Counts counts(map, 3), again(map, 3);
    counts.add({{7, 8, 9}, {0, 0, 0}});
    EXPECT_EQ(counts.record(), (std::vector<std::int64_t>{-1, 15, 1, 2 * states + 17, 1}));
    again.take_record(counts.record());
    again.add_episodes(1);
    EXPECT_EQ(again, counts);
}

TEST(SuccessorMap, FindsThePairOfAnEntry) {
    const auto features = line();
    for (Index pair = 0; pair < features->pairs(); ++pair)
        for (Index e = features->first_entry(pair); e < features->first_entry(pair + 1); ++e)
            EXPECT_EQ(features->pair_of(e), pair);
}

TEST(SuccessorMap, FindsASuccessorOrSaysThereIsNone) {
    const auto features = line();
    EXPECT_EQ(features->find_entry(1, 2), 3);
    EXPECT_EQ(features->find_entry(1, 0), -1);
}

}  // namespace
}  // namespace alidade::counts_test
