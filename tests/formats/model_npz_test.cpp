#include "alidade/formats/model_npz.hpp"
#include "alidade/formats/tabular_arrays.hpp"

#include <gtest/gtest.h>

#include "alidade/files/csr_file.hpp"
#include "alidade/random/stream.hpp"
#include "support/files.hpp"
#include "support/random_models.hpp"

namespace alidade::testing::model_npz_test {
namespace {

/// Two base models, a start law and a reward for 3 states, 2 actions and 4 steps.
MixtureModel small_model(bool homogeneous) {
    std::vector<BaseKernel> kernels(2);
    kernels[0] = {"a", 6, 3, {0, 1, 2, 3, 4, 5, 6}, {0, 1, 2, 0, 1, 2}, {1, 1, 1, 1, 1, 1}};
    kernels[1] = {"b", 6, 3, {0, 2, 3, 4, 5, 6, 7}, {0, 2, 1, 2, 1, 0, 2}, {0.5, 0.5, 1, 1, 1, 1, 1}};
    auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels));
    Matrix weights(homogeneous ? 1 : 4, 2);
    weights.row(0) << 0.25, 0.75;
    // The second base model's successors have probability zero in step 1.
    if (!homogeneous) {
        weights.row(1) << 1, 0;
        weights.row(2) << 0.5, 0.5;
        weights.row(3) << 0.125, 0.875;
    }
    return {features, 4, StartLaw({{0, 0.5}, {2, 0.5}}), weights};
}

std::vector<NamedReward> rewards_for(const Shape& shape) {
    std::vector<double> values;
    for (Index i = 0; i < shape.horizon * shape.pairs(); ++i) values.push_back(0.01 * static_cast<double>(i));
    return {{"by-step", "", Reward(shape, values)}, {"same", "", Reward::constant(shape, 0.5)}};
}

/// P_h(s'|s,a) by definition.
double probability(const MixtureModel& model, Step h, Index pair, State next) {
    const auto targets = model.features().targets(pair);
    for (std::size_t i = 0; i < targets.size(); ++i)
        if (targets[i] == next) return model.probabilities(h, pair)[i];
    return 0;
}

void expect_same(const TabularModel& read, const MixtureModel& model,
                 const std::vector<NamedReward>& rewards) {
    const Shape& shape = model.shape();
    ASSERT_EQ(read.shape, shape);
    ASSERT_EQ(static_cast<Index>(read.steps.size()), model.homogeneous() ? 1 : shape.horizon);
    for (Step h = 0; h < static_cast<Index>(read.steps.size()); ++h) {
        const BaseKernel& kernel = read.steps[static_cast<std::size_t>(h)];
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            std::vector<double> row(static_cast<std::size_t>(shape.states), 0.0);
            for (auto e = kernel.offsets[static_cast<std::size_t>(pair)];
                 e < kernel.offsets[static_cast<std::size_t>(pair + 1)]; ++e)
                row[static_cast<std::size_t>(kernel.targets[static_cast<std::size_t>(e)])] +=
                    kernel.probabilities[static_cast<std::size_t>(e)];
            for (State s = 0; s < shape.states; ++s)
                EXPECT_EQ(row[static_cast<std::size_t>(s)], probability(model, h, pair, s));
        }
    }
    EXPECT_EQ(read.start, (std::vector<double>{0.5, 0, 0.5}));
    ASSERT_EQ(read.rewards.size(), rewards.size());
    for (std::size_t r = 0; r < rewards.size(); ++r) {
        EXPECT_EQ(read.rewards[r].name, rewards[r].name);
        for (Step h = 0; h < shape.horizon; ++h)
            for (Index pair = 0; pair < shape.pairs(); ++pair)
                EXPECT_EQ(read.rewards[r].reward.at(h)[static_cast<std::size_t>(pair)],
                          rewards[r].reward.at(h)[static_cast<std::size_t>(pair)]);
    }
}

TEST(ModelNpz, ReadsWhatItWroteInBothLayouts) {
    const TemporaryFolder folder;
    for (const bool homogeneous : {false, true}) {
        const MixtureModel model = small_model(homogeneous);
        const auto rewards = rewards_for(model.shape());
        const auto dense = folder / fmt::format("dense{}.npz", homogeneous),
                   sparse = folder / fmt::format("sparse{}.npz", homogeneous);
        write_dense_npz(dense, model, rewards);
        expect_same(read_tabular_npz(dense), model, rewards);
        write_csr_npz(sparse, model, rewards);
        expect_same(read_tabular_npz(sparse), model, rewards);
    }
}

TEST(ModelNpz, LaysOutTheDenseArrayByStepStateActionSuccessor) {
    const TemporaryFolder folder;
    const MixtureModel model = small_model(false);
    write_dense_npz(folder / "d.npz", model, rewards_for(model.shape()));
    const detail::NpzArrays arrays = detail::read_npz(folder / "d.npz");
    const detail::NpyArray& transitions = arrays.at("transitions");
    ASSERT_EQ(transitions.shape, (std::vector<std::int64_t>{4, 3, 2, 3}));
    // Step 2: half and half; state 0, action 0 goes to 0 surely or to 0 and 2 evenly.
    EXPECT_EQ(transitions.reals[((2 * 3 + 0) * 2 + 0) * 3 + 0], 0.75);
    EXPECT_EQ(transitions.reals[((2 * 3 + 0) * 2 + 0) * 3 + 2], 0.25);
    EXPECT_EQ(arrays.at("rewards_by-step").shape, (std::vector<std::int64_t>{4, 3, 2}));
    EXPECT_EQ(arrays.at("rewards_by-step").reals[7], 0.07);
}

TEST(ModelNpz, StoresNoZerosAndNarrowIndicesInTheSparseLayout) {
    const TemporaryFolder folder;
    const MixtureModel model = small_model(false);
    write_csr_npz(folder / "s.npz", model);
    const detail::NpzArrays arrays = detail::read_npz(folder / "s.npz");
    EXPECT_EQ(arrays.at("shape").integers, (std::vector<std::int64_t>{24, 3}));
    EXPECT_EQ(arrays.at("indices").dtype, "<i4");
    for (const double p : arrays.at("data").reals) EXPECT_GT(p, 0);
    // Step 1 uses the first base model only: six rows of one successor.
    EXPECT_EQ(arrays.at("indptr").integers[12] - arrays.at("indptr").integers[6], 6);
}

TEST(ModelNpz, HomogeneousModelsAreBaseModels) {
    const TemporaryFolder folder;
    write_csr_npz(folder / "s.npz", small_model(true));
    const BaseKernel kernel = detail::read_csr(folder / "s.npz");
    EXPECT_EQ(kernel.rows, 6);
    detail::validate_rows(kernel, 2, "s.npz");
}

TEST(ModelNpz, RefusesADenseArrayAboveTheLimit) {
    const TemporaryFolder folder;
    const std::string why =
        refusal([&] { write_dense_npz(folder / "d.npz", small_model(false), {}, {.largest_dense = 575}); });
    EXPECT_TRUE(says(why, {"d.npz", "4 x 3 x 2 x 3", "limit", "sparse"}));
    write_dense_npz(folder / "d.npz", small_model(false), {}, {.largest_dense = 576});
    EXPECT_TRUE(std::filesystem::exists(folder / "d.npz"));
}

TEST(ModelNpz, RefusesArraysThatDoNotFitTogether) {
    detail::NpzArrays good;
    good.emplace("transitions", detail::NpyArray::of_reals({1, 2, 1, 2}, {0.5, 0.5, 0, 1}));
    const auto with = [&](const char* name, detail::NpyArray array) {
        detail::NpzArrays arrays = good;
        arrays[name] = std::move(array);
        return refusal([&] { detail::tabular_from_arrays(arrays, "x.npz"); });
    };
    EXPECT_EQ(detail::tabular_from_arrays(good, "x.npz").start, (std::vector<double>{1, 0}));
    EXPECT_TRUE(says(with("transitions", detail::NpyArray::of_reals({2, 2}, {1, 0, 0, 1})),
                     {"transitions", "(2, 2)"}));
    EXPECT_TRUE(says(with("transitions", detail::NpyArray::of_reals({2, 1, 1}, {1, 1})), {"transitions"}));
    EXPECT_TRUE(says(with("transitions", detail::NpyArray::of_reals({0, 1, 0}, {})), {"transitions"}));
    EXPECT_TRUE(says(with("transitions", detail::NpyArray::of_reals({2, 1, 2}, {0.5, 0.4, 0, 1})),
                     {"state 0", "0.9"}));
    EXPECT_TRUE(
        says(with("transitions", detail::NpyArray::of_reals({1, 1, 1}, {std::nan("")})), {"state 0", "nan"}));
    EXPECT_TRUE(says(with("horizon", detail::NpyArray::of_reals({}, {2})), {"horizon"}));
    EXPECT_TRUE(says(with("horizon", detail::NpyArray::of_integers({}, {0})), {"horizon"}));
    EXPECT_TRUE(says(with("start", detail::NpyArray::of_reals({1}, {1})), {"start", "(2)"}));
    EXPECT_TRUE(says(with("start", detail::NpyArray::of_reals({2}, {0.5, 0.4})), {"start", "0.9"}));
    EXPECT_TRUE(says(with("rewards_r", detail::NpyArray::of_reals({2}, {0, 1})), {"rewards_r"}));
    EXPECT_TRUE(says(with("rewards_r", detail::NpyArray::of_reals({2, 1}, {0, 2})), {"rewards_r", "2"}));
    EXPECT_TRUE(says(refusal([&] { detail::tabular_from_arrays({}, "x.npz"); }), {"x.npz", "transitions"}));
}

}  // namespace
}  // namespace alidade::testing::model_npz_test
