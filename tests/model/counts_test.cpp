#include "alidade/model/counts.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"

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
    EXPECT_EQ(counts.at(0)[1], 1);  // 0 -> 1 at step 0
    EXPECT_EQ(counts.at(1)[3], 1);  // 1 -> 2 at step 1
    EXPECT_EQ(counts.visits(1, 2), 0);
    EXPECT_EQ(counts.values().size(), 2u * 5u);
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
    EXPECT_EQ(one.at(1)[3], 3);
    EXPECT_EQ(one.visits(2, 2), 0);
    one.add(std::span(states).first(1), {});
    EXPECT_EQ(one.episodes(), 4);
    EXPECT_THROW(one.add({}, {}), InvalidArgument);
    EXPECT_THROW(one.add(states, std::span(actions).first(1)), InvalidArgument);
    EXPECT_THROW(one.add(states, actions, 0), InvalidArgument);
    EXPECT_EQ(one.episodes(), 4);
}

TEST(SuccessorMap, FindsASuccessorOrSaysThereIsNone) {
    const auto features = line();
    EXPECT_EQ(features->find_entry(1, 2), 3);
    EXPECT_EQ(features->find_entry(1, 0), -1);
}

}  // namespace
}  // namespace alidade::counts_test
