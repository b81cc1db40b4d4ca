#include "alidade/formats/explicit_npz.hpp"

#include <gtest/gtest.h>

#include "alidade/random/stream.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::explicit_npz_test {
namespace {

using support::ExplicitFeatures;

ExplicitFeatures everything(BranchKind kind) {
    ExplicitFeatures with;
    with.kind = kind;
    with.zero_probabilities = kind != BranchKind::parametric;
    with.spellings = {"up", "Down 2", "\xc3\xa4 \"x\""};
    return with;
}

TEST(ExplicitNpz, ReadsWhatItWrote) {
    const TemporaryFolder folder;
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric})
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
            Stream random(seed, Purpose::test);
            const ExplicitModel model = support::random_explicit_model(random, everything(kind));
            // Fresh names: replacing a file waits for the disk on some file systems.
            const auto path = folder / fmt::format("{}-{}.npz", static_cast<int>(kind), seed);
            detail::write_explicit_npz(path, RowsOfModel(model),
                                       static_cast<detail::NpzCompression>(seed % 2));
            ASSERT_EQ(detail::read_explicit_npz(path), model) << "seed " << seed;
        }
}

/// One state that stays, as arrays.
detail::NpzArrays one_state() {
    detail::NpzArrays arrays;
    arrays.emplace("header", detail::NpyArray::of_text(R"({"kind": "point", "rewards": ["r"]})"));
    arrays.emplace("state_to_choices", detail::NpyArray::of_integers({2}, {0, 1}));
    arrays.emplace("choice_to_branches", detail::NpyArray::of_integers({2}, {0, 2}));
    arrays.emplace("targets", detail::NpyArray::of_integers({2}, {0, 0}));
    arrays.emplace("lower", detail::NpyArray::of_reals({2}, {0.25, 0.75}));
    arrays.emplace("initial_states", detail::NpyArray::of_integers({1}, {0}));
    arrays.emplace("state_rewards", detail::NpyArray::of_reals({1, 1}, {3}));
    arrays.emplace("choice_rewards", detail::NpyArray::of_reals({1, 1}, {4}));
    return arrays;
}

TEST(ExplicitNpz, AddsUpBranchesAndTakesWhatIsLeftOutAsNone) {
    const ExplicitModel model = detail::explicit_from_arrays(one_state(), "x.npz");
    EXPECT_EQ(model.header.branches, 1);
    EXPECT_EQ(model.states[0].lower, (std::vector<double>{1}));
    EXPECT_EQ(model.states[0].actions, (std::vector<std::int32_t>{-1}));
    EXPECT_EQ(model.states[0].choice_rewards, (std::vector<double>{4}));
}

TEST(ExplicitNpz, RefusesArraysThatDoNotFitTogether) {
    const auto with = [](const char* name, detail::NpyArray array) {
        detail::NpzArrays arrays = one_state();
        arrays[name] = std::move(array);
        return refusal([&] { detail::explicit_from_arrays(arrays, "x.npz"); });
    };
    EXPECT_TRUE(says(with("state_to_choices", detail::NpyArray::of_integers({1}, {0})), {"x.npz", "states"}));
    EXPECT_TRUE(
        says(with("state_to_choices", detail::NpyArray::of_integers({3}, {0, 1, 2})), {"x.npz", "choices"}));
    EXPECT_TRUE(
        says(with("state_to_choices", detail::NpyArray::of_integers({3}, {0, 0, 1})), {"x.npz", "choices"}));
    EXPECT_TRUE(
        says(with("choice_to_branches", detail::NpyArray::of_integers({2}, {0, 1})), {"x.npz", "branches"}));
    EXPECT_TRUE(says(with("choice_to_branches", detail::NpyArray::of_integers({2}, {1, 2})),
                     {"x.npz", "start at 1"}));
    EXPECT_TRUE(says(with("targets", detail::NpyArray::of_integers({2}, {0, 1})), {"x.npz", "state 1"}));
    EXPECT_TRUE(says(with("targets", detail::NpyArray::of_reals({2}, {0, 0})), {"x.npz", "targets"}));
    EXPECT_TRUE(says(with("lower", detail::NpyArray::of_reals({1}, {1})), {"x.npz", "probabilities"}));
    EXPECT_TRUE(says(with("lower", detail::NpyArray::of_reals({2}, {0.5, 0.25})), {"x.npz", "0.75"}));
    EXPECT_TRUE(says(with("choice_actions", detail::NpyArray::of_integers({1}, {0})), {"x.npz", "action 0"}));
    EXPECT_TRUE(says(with("choice_rewards", detail::NpyArray::of_reals({2}, {1, 2})), {"x.npz", "rewards"}));
    EXPECT_TRUE(says(with("header", detail::NpyArray::of_text("{}")), {"x.npz", "kind"}));
    EXPECT_TRUE(says(with("header", detail::NpyArray::of_text("[")), {"x.npz", "JSON"}));
    EXPECT_TRUE(says(with("initial_states", detail::NpyArray::of_integers({1}, {1})), {"x.npz", "initial"}));
}

}  // namespace
}  // namespace alidade::testing::explicit_npz_test
