#include "alidade/formats/drn_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::drn_file_test {
namespace {

using support::canonical;
using support::random_explicit_model;
using support::test_stream;

std::string refused(const std::string& text) {
    return refusal([&] { detail::parse_drn(text, "m.drn"); });
}

/// Two states, one interval of choices: the header with `between`, then the rows.
std::string drn(const std::string& header, const std::string& rows) {
    return "@type: MDP\n" + header + "@nr_states\n2\n@nr_choices\n2\n@model\n" + rows;
}

const std::string last_state = "state 1\n\taction 0\n\t\t1 : 1\n";

TEST(Drn, EveryKindReadsBackAsItWas) {
    const TemporaryFolder folder;
    Stream random = test_stream(2);
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric}) {
        for (int i = 0; i < 200; ++i) {
            const ExplicitModel model =
                random_explicit_model(random, {.kind = kind,
                                               .zero_probabilities = i % 2 == 0,
                                               .spellings = {"up", "Down_2", i % 3 == 0 ? "[" : "x"}});
            const auto path = folder / fmt::format("{}-{}.drn", static_cast<int>(kind), i);
            // Without @value_type intervals are told by their brackets and parameters by their names.
            detail::write_drn(path, RowsOfModel(model), {.value_type = i % 4 != 0});
            ExplicitModel read = detail::read_drn(path);
            EXPECT_EQ(canonical(read), canonical(model)) << bytes_of(path);
        }
    }
}

TEST(Drn, LabelsMayHaveBlanksAndOtherNamesGetUnderscores) {
    const TemporaryFolder folder;
    ExplicitModel model;
    model.header = {BranchKind::point, 1, 1, 1, {}, {"go on"}, {"at home"}, {"my reward"}, {0}};
    model.states = {{{0}, {0}, {0, 1}, {0}, {1}, {}, {}, {0.5}, {-1}}};
    detail::write_drn(folder / "m.drn", RowsOfModel(model));
    ExplicitModel expected = model;
    expected.header.actions = {"go_on"};
    expected.header.rewards = {"my_reward"};
    EXPECT_EQ(detail::read_drn(folder / "m.drn"), expected);
    model.header.labels = {"say \"x\""};
    EXPECT_TRUE(
        says(refusal([&] { detail::write_drn(folder / "n.drn", RowsOfModel(model)); }), {"n.drn", "say"}));
    EXPECT_TRUE(
        says(refusal([&] { detail::write_drn(folder / "no/m.drn", RowsOfModel(expected)); }), {"no/m.drn"}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Drn, FilesOfStormAreRead) {
    // Written by stormpy 2.0.0 (export_to_drn) from its own examples.
    const ExplicitModel dice = detail::read_drn(data("storm_two_dice.drn"));
    EXPECT_EQ(dice.header.states, 169);
    EXPECT_EQ(dice.header.choices, 254);
    EXPECT_EQ(dice.header.branches, 436);
    EXPECT_EQ(dice.header.rewards, std::vector<std::string>{"coinflips"});
    EXPECT_TRUE(dice.header.actions.empty());
    EXPECT_EQ(dice.header.initial_states, std::vector<std::int64_t>{0});
    const ExplicitModel grid = detail::read_drn(data("storm_slipgrid.drn"));
    EXPECT_EQ(grid.header.actions, (std::vector<std::string>{"south", "west", "north", "east"}));
    EXPECT_EQ(grid.states[1].lower, (std::vector<double>{0.6, 0.4, 0.4, 0.6, 0.4, 0.6}));
    EXPECT_EQ(grid.header.rewards, std::vector<std::string>{"rew0"});
    const ExplicitModel rational = detail::read_drn(data("storm_rational_dice.drn"));
    EXPECT_EQ(rational.states[0].lower, std::vector<double>(4, 0.5));
    const ExplicitModel tiny = detail::read_drn(data("storm_imdp.drn"));
    EXPECT_EQ(tiny.header.kind, BranchKind::interval);
    EXPECT_EQ(tiny.states[0].lower, (std::vector<double>{0.4, 0.5}));
    EXPECT_EQ(tiny.states[0].upper, (std::vector<double>{0.9, 0.8}));
    const ExplicitModel rewarded = detail::read_drn(data("storm_interval_rewards.drn"));
    EXPECT_EQ(rewarded.states[0].choice_rewards, (std::vector<double>{0.25, 0.1}));
    EXPECT_EQ(rewarded.states[0].upper, (std::vector<double>{0.3, 1, 0.5, 0.5}));
    for (const char* name : {"storm_parametric_dice.drn", "storm_parametric_dice_placeholders.drn"}) {
        const ExplicitModel parametric = detail::read_drn(data(name));
        EXPECT_EQ(parametric.header.parameters, (std::vector<std::string>{"p1", "p2"}));
        EXPECT_EQ(parametric.states[0].coefficients,
                  (std::vector<double>{0, 1, 0, 1, -1, 0, 0, 0, 1, 1, 0, -1}));
    }
}

TEST(Drn, ExpressionsMayHaveFractionsBracketsAndSigns) {
    const auto read = [](const std::string& one, const std::string& other) {
        return detail::parse_drn(
                   drn("@value_type: parametric\n@parameters\np q\n",
                       "state 0 init\n\taction a\n\t\t0 : " + one + "\n\t\t1 : " + other + "\n" + last_state),
                   "m.drn")
            .states[0]
            .coefficients;
    };
    EXPECT_EQ(read("p", "1-p"), (std::vector<double>{0, 1, 0, 1, -1, 0}));
    EXPECT_EQ(read("(-1 * (p+(-1)))/(2)", "1/2 + p/2"), (std::vector<double>{0.5, -0.5, 0, 0.5, 0.5, 0}));
    EXPECT_EQ(read("0.25*p*2-(q-1)*1e-1", "--.9 - 0.5*p + q/10"),
              (std::vector<double>{0.1, 0.5, -0.1, 0.9, -0.5, 0.1}));
}

TEST(Drn, WhatIsWrongIsNamedWithItsLine) {
    const std::string start = "state 0 init\n\taction a\n\t\t0 : 0.5\n\t\t1 : 0.5\n";
    ASSERT_EQ(detail::parse_drn(drn("", start + last_state), "m.drn").header.states, 2);
    using Case = std::pair<std::string, std::vector<std::string>>;
    const std::vector<Case> cases{
        {"", {"m.drn:1", "ends before @model"}},
        {"@type: CTMC\n", {"m.drn:1", "CTMC"}},
        {"@type: MDP\n@colour\n", {"m.drn:2", "@colour"}},
        {"@type: MDP\n@value_type: float\n", {"m.drn:2", "float"}},
        {"@type: MDP\n@nr_states\nmany\n", {"m.drn:3", "many"}},
        {"@type: MDP\n@nr_states\n99999999999999999999\n", {"m.drn:3"}},
        {"@type: MDP\n@model\n", {"@nr_states is missing"}},
        {"@nr_states\n1\n@model\n", {"@type is missing"}},
        {"@type: MDP\n@nr_states\n1000000000000\n@model\nstate 0 init\n\taction a\n\t\t0 : 1\n",
         {"m.drn", "1000000000000", "there are 1"}},
        {drn("", ""), {"there are no states"}},
        {drn("", start), {"@nr_states is 2, but there are 1"}},
        {drn("", start + last_state + "state 2\n\taction 0\n\t\t1 : 1\n"), {"@nr_states is 2"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : 0.5\n\t\t1 : 0.497\n" + last_state),
         {"m.drn:8", "state 0, choice 0", "0.997"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : nan\n\t\t1 : 1\n" + last_state), {"m.drn:9"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : inf\n\t\t1 : 1\n" + last_state), {"m.drn:9"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : -0.5\n\t\t1 : 1.5\n" + last_state), {"m.drn:9", "-0.5"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : 0.5\n\t\t0 : 0.5\n" + last_state), {"m.drn:8", "twice"}},
        {drn("", "state 0 init\n\taction a\n\t\t2 : 1\n" + last_state), {"m.drn:9", "there are 2"}},
        {drn("", "state 0 init\n\taction a\n\t\t-1 : 1\n" + last_state), {"m.drn:9", "-1"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 = 1\n" + last_state), {"m.drn:9", "0 = 1"}},
        {drn("", "state 0 init\n" + last_state), {"m.drn:7", "no choice"}},
        {drn("", "state 0 init\n\taction a\n" + last_state), {"m.drn:8", "no transition"}},
        {drn("", "\taction a\n\t\t0 : 1\n"), {"m.drn:7", "before the first state"}},
        {drn("", "state 1 init\n\taction a\n\t\t0 : 1\n"), {"m.drn:7", "state 0 is due"}},
        {drn("", "state 0\n\taction a\n\t\t0 : 1\n" + last_state), {"no initial state"}},
        {drn("", "state 0 [1] init\n\taction a [1, 2]\n\t\t0 : 1\n" + last_state), {"m.drn:8", "2 rewards"}},
        {drn("", "state 0 [1 init\n\taction a\n\t\t0 : 1\n" + last_state), {"m.drn:7", "]"}},
        {drn("", "state 0 \"init\n\taction a\n\t\t0 : 1\n" + last_state), {"m.drn:7", "quotation"}},
        {drn("@reward_models\nr\n", "state 0 [[0, 1]] init\n\taction a\n\t\t0 : 1\n" + last_state),
         {"m.drn:9", "[0, 1]", "must be a number"}},
        {drn("@value_type: double\n", "state 0 init\n\taction a\n\t\t0 : [0, 1]\n" + last_state),
         {"m.drn:10", "double"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : [0.9, 0.2]\n" + last_state), {"m.drn:9", "[0.9, 0.2]"}},
        {drn("", "state 0 init\n\taction a\n\t\t0 : [0, 0.4]\n\t\t1 : [0, 0.5]\n" + last_state),
         {"m.drn:8", "at most 0.9"}},
        {drn("@parameters\np p\n", ""), {"m.drn:3", "twice"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : p\n\t\t1 : p\n" + last_state),
         {"m.drn:10", "constants"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : p\n\t\t1 : 1-0.5*p\n" + last_state),
         {"m.drn:10", "coefficient of p", "0.5"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : p*p\n\t\t1 : 1\n" + last_state),
         {"m.drn:11", "multiplied"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : 1/p\n\t\t1 : 1\n" + last_state),
         {"m.drn:11", "divisor"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : 1/0\n\t\t1 : 1\n" + last_state),
         {"m.drn:11", "divisor"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : q\n\t\t1 : 1\n" + last_state),
         {"m.drn:11", "no such parameter"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : (p\n\t\t1 : 1\n" + last_state),
         {"m.drn:11", "bracket"}},
        {drn("@parameters\np\n",
             "state 0 init\n\taction a\n\t\t0 : " + std::string(100000, '(') + "\n" + last_state),
         {"m.drn:11", "too deep"}},
        {drn("@parameters\np\n", "state 0 init\n\taction a\n\t\t0 : $7\n" + last_state), {"placeholder"}},
        {drn("@parameters\np\n@reward_models\nr\n", "state 0 [p] init\n\taction a\n\t\t0 : 1\n" + last_state),
         {"m.drn:11", "depends on a parameter"}},
    };
    for (const auto& [text, parts] : cases) {
        const std::string message = refused(text);
        for (const std::string& part : parts) EXPECT_TRUE(says(message, {part})) << text;
    }
}

TEST(Drn, NormalisingMakesRowsSumToOne) {
    const std::string text = drn("", "state 0 init\n\taction a\n\t\t0 : 0.333\n\t\t1 : 0.666\n" + last_state);
    EXPECT_TRUE(says(refused(text), {"0.999"}));
    const ExplicitModel model = detail::parse_drn(text, "m.drn", {.normalise = true});
    EXPECT_NEAR(model.states[0].lower[0], 1.0 / 3, 1e-15);
}

TEST(Drn, AFileOfFewLinesCannotAskForMuchMemory) {
    std::string names;
    for (int i = 0; i < 100000; ++i) names += fmt::format("r{} ", i);
    for (const char* what : {"@reward_models", "@parameters"})
        EXPECT_TRUE(says(refused(fmt::format("@type: MDP\n{}\n{}\n@nr_states\n2000\n@model\n", what, names)),
                         {"2000 states", "100000", "too large"}));
}

TEST(Drn, DamagedFilesAreRefusedOrValid) {
    const TemporaryFolder folder;
    Stream random = test_stream(4);
    std::mt19937_64 damage(5);
    const std::string splinters = "[]\"@:$*/+-()e.0 \n\tp";
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric}) {
        for (int i = 0; i < 20; ++i) {
            const auto path = folder / fmt::format("{}-{}.drn", static_cast<int>(kind), i);
            detail::write_drn(path, RowsOfModel(random_explicit_model(random, {.kind = kind})));
            const std::string whole = bytes_of(path);
            for (int trial = 0; trial < 50; ++trial) {
                std::string text = whole;
                for (int change = 0; change < 3; ++change) {
                    const std::size_t place = damage() % text.size();
                    if (damage() % 3 == 0)
                        text.erase(place, 1 + damage() % 5);
                    else
                        text[place] = splinters[damage() % splinters.size()];
                    if (text.empty()) text = " ";
                }
                try {
                    validate(detail::parse_drn(text, "m.drn"), "m.drn");
                } catch (const InvalidArgument&) {
                }
            }
        }
    }
}

TEST(DrnFile, RefusesAHeaderThatSaysAThingTwice) {
    // Found by fuzzing: parameters that a second, shorter list had forgotten were still written to.
    const std::string why = refusal([] {
        detail::parse_drn(
            "@type: MDP\n@value_type: parametric\n@parameters\np q\n@parameters\nr\n@nr_states\n1\n@model\n"
            "state 0 init\naction a\n0 : 1-q+q\n",
            "x.drn");
    });
    EXPECT_TRUE(says(why, {"x.drn:5", "@parameters", "twice"}));
}

}  // namespace
}  // namespace alidade::testing::drn_file_test
