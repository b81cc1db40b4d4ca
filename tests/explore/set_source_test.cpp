#include "alidade/explore/set_source.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/regression_source.hpp"
#include "alidade/problem/catalogue.hpp"

namespace alidade::set_source_test {
namespace {

detail::SourceSetting setting() {
    return {.task = task_of(make_builtin("builtin:garnet?states=4&actions=2&features=3&horizon=3"))};
}

/// A small task that the source serves.
detail::SourceSetting setting_for(const SourceEntry& entry) {
    const detail::SourceSetting mixture = setting();
    if (entry.refusal(mixture.task).empty()) return mixture;
    return {.task = task_of(make_builtin("builtin:linear-random?states=4&actions=2&features=3&horizon=3"))};
}

const detail::RegressionConstants& constants_of(const detail::SetSource& source) {
    return dynamic_cast<const detail::RegressionSource&>(source).regression().constants();
}

TEST(SetSource, LeavesOutTheSharpeningsThatAreNamed) {
    for (const detail::SharpeningEntry& entry : detail::sharpenings()) {
        detail::RegressionConstants expected;
        expected.sharpenings.*entry.element = false;
        const auto source = detail::make_source({"regression", {{"without", entry.name}}}, setting());
        EXPECT_EQ(constants_of(*source), expected) << entry.name;
        EXPECT_EQ(source->keeps_best(), entry.name != "best-iterate");
    }
    EXPECT_EQ(constants_of(*detail::make_source({"regression", {}}, setting())),
              detail::RegressionConstants{});
    const auto two = detail::make_source({"regression", {{"without", "hull+span"}}}, setting());
    EXPECT_EQ(detail::names_left_out(constants_of(*two).sharpenings), "hull,span");
}

TEST(SetSource, TellsThePapersConstantsHowManyEpisodesThereWillBe) {
    const auto source = detail::make_source(
        {"regression", {{"constants", "paper"}, {"episodes", "123456789012"}}}, setting());
    EXPECT_TRUE(constants_of(*source).paper);
    EXPECT_EQ(constants_of(*source).episodes, 123'456'789'012);
    EXPECT_FALSE(source->keeps_best());
}

TEST(SetSource, ReadsBackWhatItWrites) {
    for (const char* text :
         {"regression", "likelihood?radius=centred", "regression,likelihood?radius=plain",
          "regression?width=l1&without=hull+span,likelihood?prequential=true&radius=centred",
          "regression?constants=paper&episodes=100"})
        EXPECT_EQ(to_string(canonical_sources(text)), text);
    // What defines the event is always said.
    EXPECT_EQ(to_string(canonical_sources("likelihood")), "likelihood?radius=centred");
}

TEST(SetSource, RefusesWhatItDoesNotKnow) {
    for (const char* text :
         {"", "soft", "regression,", "regression,regression", "regression?without=warmth",
          "regression?constants=soft", "regression?width=l2", "regression?speed=3", "likelihood?without=hull",
          "likelihood?prequential=yes", "regression?constants=paper&episodes=0"})
        EXPECT_THROW(canonical_sources(text), InvalidArgument) << text;
}

// What is regressed on must be fixed before the data are seen.
TEST(SetSource, TakesNothingUpBeforeItWasRefreshed) {
    for (const SourceEntry& entry : set_sources()) {
        const detail::SourceSetting small = setting_for(entry);
        const Counts none(small.task.successors(), small.task.horizon);
        const auto source = detail::make_source({entry.name, {}}, small);
        EXPECT_TRUE(source->due());
        if (entry.name == "regression") {
            EXPECT_THROW(source->absorb(none), InvalidArgument);
        }
        source->refresh();
        EXPECT_FALSE(source->due());
        source->absorb(none);
        EXPECT_TRUE(source->due());
    }
}

TEST(SetSource, ServesMixturesOrLinearMdps) {
    const Task mixture = setting().task, linear = setting_for(find_source("linear")).task;
    for (const SourceEntry& entry : set_sources()) {
        const bool of_linear = entry.name == "linear";
        EXPECT_EQ(entry.refusal(linear).empty(), of_linear) << entry.name;
        EXPECT_EQ(entry.refusal(mixture).empty(), !of_linear) << entry.name;
    }
}

}  // namespace
}  // namespace alidade::set_source_test
