#include "alidade/formats/umb_file.hpp"

#include <gtest/gtest.h>

#include "alidade/random/stream.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::umb_file_test {
namespace {

using support::ExplicitFeatures;

/// Everything that UMB can keep.
ExplicitFeatures everything(BranchKind kind) {
    ExplicitFeatures with;
    with.kind = kind;
    with.zero_probabilities = true;
    with.spellings = {"up", "Down 2", "\xc3\xa4 \"x\""};
    return with;
}

TEST(UmbFile, ReadsWhatItWrote) {
    const TemporaryFolder folder;
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval})
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            Stream random(seed, Purpose::test);
            const ExplicitModel model = support::random_explicit_model(random, everything(kind));
            // Few with xz, which takes long to start.
            const auto compression =
                seed % 20 == 0 ? detail::UmbCompression::xz : static_cast<detail::UmbCompression>(seed % 2);
            // Fresh names: replacing a file waits for the disk on some file systems.
            const auto path = folder / fmt::format("{}-{}.umb", static_cast<int>(kind), seed);
            detail::write_umb(path, RowsOfModel(model), compression);
            ASSERT_EQ(detail::read_umb(path), model) << "seed " << seed;
        }
}

TEST(UmbFile, GivesTheSameBytesForTheSameModel) {
    const TemporaryFolder folder;
    Stream random(7, Purpose::test);
    const ExplicitModel model = support::random_explicit_model(random, everything(BranchKind::interval));
    detail::write_umb(folder / "a.umb", RowsOfModel(model));
    detail::write_umb(folder / "b.umb", RowsOfModel(model));
    EXPECT_EQ(bytes_of(folder / "a.umb"), bytes_of(folder / "b.umb"));
}

/// The model of data/storm.umb and data/umbi.umb, which are Storm's and umbi's own, by hand.
ExplicitModel three_states() {
    ExplicitModel model;
    model.header.states = 3;
    model.header.choices = 4;
    model.header.branches = 6;
    model.header.actions = {"stay", "go"};
    model.header.labels = {"goal"};
    model.header.rewards = {"r"};
    model.header.initial_states = {0};
    model.states.resize(3);
    model.states[0] = {{}, {0, 1}, {0, 2, 3}, {0, 1, 2}, {0.5, 0.5, 1}, {}, {}, {0}, {0, 7}};
    model.states[1] = {{}, {0}, {0, 2}, {1, 2}, {0.25, 0.75}, {}, {}, {2.5}, {0}};
    model.states[2] = {{0}, {0}, {0, 1}, {2}, {1}, {}, {}, {0}, {0}};
    return model;
}

TEST(UmbFile, ReadsWhatOtherToolsWrote) {
    EXPECT_EQ(detail::read_umb(data("umbi.umb")), three_states());
    ExplicitModel storm = detail::read_umb(data("storm.umb"));
    // Storm sorts the names of actions.
    ASSERT_EQ(storm.header.actions, (std::vector<std::string>{"go", "stay"}));
    storm.header.actions = {"stay", "go"};
    for (ExplicitState& row : storm.states)
        for (std::int32_t& action : row.actions) action = 1 - action;
    EXPECT_EQ(storm, three_states());
}

TEST(UmbFile, ReadsTheRewardsThatStormWritesAsIntervals) {
    const ExplicitModel model = detail::read_umb(data("storm_interval.umb"));
    EXPECT_EQ(model.header.kind, BranchKind::interval);
    EXPECT_EQ(model.header.rewards, (std::vector<std::string>{"cost"}));
    EXPECT_EQ(model.states[0].lower[0], 0.24178843818796852);
    EXPECT_EQ(model.states[0].upper[0], 1);
    EXPECT_EQ(model.states[0].state_rewards, (std::vector<double>{1.0058052240283568}));
    EXPECT_EQ(model.states[1].choice_rewards, (std::vector<double>{0.5627364479552687, 0, 0}));
}

TEST(UmbFile, RefusesParameters) {
    const TemporaryFolder folder;
    Stream random(1, Purpose::test);
    ExplicitFeatures with;
    with.kind = BranchKind::parametric;
    const ExplicitModel model = support::random_explicit_model(random, with);
    EXPECT_TRUE(
        says(refusal([&] { detail::write_umb(folder / "m.umb", RowsOfModel(model)); }), {"m.umb", "DRN"}));
    EXPECT_FALSE(std::filesystem::exists(folder / "m.umb"));
}

TEST(UmbFile, RefusesEveryTruncationAndSaysWhichFile) {
    const TemporaryFolder folder;
    detail::write_umb(folder / "m.umb", RowsOfModel(three_states()), detail::UmbCompression::none);
    const std::string bytes = bytes_of(folder / "m.umb");
    // The end of a tar archive is two blocks of zeros; without them nothing is missing.
    for (std::size_t size = 0; size + 1024 < bytes.size(); size += 100)
        EXPECT_TRUE(says(refusal([&] { detail::parse_umb(bytes.substr(0, size), "cut.umb"); }), {"cut.umb"}))
            << size;
}

/// `bytes` with the only occurrence of `from` replaced; lengths must agree.
std::string with(std::string bytes, std::string_view from, std::string_view to) {
    const auto place = bytes.find(from);
    EXPECT_NE(place, std::string::npos) << from;
    EXPECT_EQ(from.size(), to.size());
    return bytes.replace(place, from.size(), to);
}

TEST(UmbFile, NeverTrustsTheIndex) {
    const TemporaryFolder folder;
    detail::write_umb(folder / "m.umb", RowsOfModel(three_states()), detail::UmbCompression::none);
    const std::string bytes = bytes_of(folder / "m.umb");
    const auto refused = [&](std::string_view from, std::string_view to) {
        return refusal([&] { detail::parse_umb(with(bytes, from, to), "x.umb"); });
    };
    EXPECT_TRUE(says(refused("\"#branches\": 6", "\"#branches\": 9"), {"branch-to-target.bin", "9"}));
    EXPECT_TRUE(says(refused("\"#choices\": 4", "\"#choices\": 5"), {"choice-to-branches.bin"}));
    EXPECT_TRUE(says(refused("\"#states\": 3", "\"#states\": 0"), {"0 states"}));
    EXPECT_TRUE(says(refused("\"#players\": 1", "\"#players\": 2"), {"games"}));
    EXPECT_TRUE(says(refused("\"discrete\"", "\"stochast\""), {"time"}));
    EXPECT_TRUE(says(refused("\"format-version\": 1", "\"format-version\": 2"), {"version"}));
    EXPECT_TRUE(says(refused("\"states\"", "\"planet\""), {"applies to"}));
}

TEST(UmbFile, RefusesWhatIsNoDistribution) {
    const TemporaryFolder folder;
    ExplicitModel model = three_states();
    model.states[1].lower = {0.25, 0.7};
    detail::write_umb(folder / "m.umb", RowsOfModel(model));
    EXPECT_TRUE(says(refusal([&] { detail::read_umb(folder / "m.umb"); }), {"m.umb", "state 1", "0.95"}));
    const ExplicitModel mended = detail::read_umb(folder / "m.umb", {.normalise = true});
    EXPECT_DOUBLE_EQ(mended.states[1].lower[0], 0.25 / 0.95);
}

TEST(UmbFile, AddsUpBranchesThatShareATarget) {
    // Written in any order, as UMB allows: our own writer only checks sizes.
    const TemporaryFolder folder;
    ExplicitModel model = three_states();
    model.states[1].targets = {2, 1, 2};
    model.states[1].lower = {0.5, 0.25, 0.25};
    model.states[1].offsets = {0, 3};
    model.header.branches = 7;
    detail::write_umb(folder / "m.umb", RowsOfModel(model));
    EXPECT_EQ(detail::read_umb(folder / "m.umb"), three_states());
}

}  // namespace
}  // namespace alidade::testing::umb_file_test
