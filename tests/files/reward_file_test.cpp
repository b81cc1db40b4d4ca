#include "alidade/files/reward_file.hpp"

#include <cmath>

#include "alidade/files/npz.hpp"
#include "support/files.hpp"

namespace alidade::testing::reward_file_test {
namespace {

const Shape shape{2, 2, 3};

Reward read(std::string_view text) {
    const TemporaryFolder folder;
    return read_reward(folder.write("r.json", text), shape).reward;
}

std::string refused(std::string_view text) {
    return refusal([&] { read(text); });
}

std::filesystem::path write_array(const TemporaryFolder& folder, const std::string& name,
                                  detail::NpyArray array) {
    detail::NpzArrays arrays;
    arrays.emplace(name, std::move(array));
    detail::write_npz(folder / "r.npz", arrays);
    return folder / "r.npz";
}

TEST(RewardFile, ActionAndStepLeftOutMeanAll) {
    EXPECT_EQ(read(R"({"default": 0.5, "entries": [{"state": 1, "reward": 1}]})"),
              Reward(shape, {0.5, 0.5, 1, 1}));
    EXPECT_EQ(read(R"({"entries": [{"state": 0, "action": 1, "reward": 0.25}]})"),
              Reward(shape, {0, 0.25, 0, 0}));
    EXPECT_EQ(
        read(
            R"({"entries": [{"state": 1, "step": 2, "reward": 1}, {"state": 0, "action": 0, "reward": 0.5}]})"),
        Reward(shape, {0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5, 0, 1, 1}));
    EXPECT_EQ(read("{}"), Reward::constant(shape, 0));
}

TEST(RewardFile, TheLaterOfOverlappingEntriesWins) {
    EXPECT_EQ(read(R"({"entries": [{"state": 1, "reward": 1}, {"state": 1, "action": 0, "reward": 0.5},
                                   {"state": 1, "action": 0, "reward": 0.25}]})"),
              Reward(shape, {0, 0, 0.25, 1}));
    // Also where the earlier one is out of range: what counts is the reward that results.
    EXPECT_EQ(read(R"({"default": 7, "entries": [{"state": 0, "reward": 1}, {"state": 1, "reward": 1}]})"),
              Reward::constant(shape, 1));
}

TEST(RewardFile, WritingThenReadingIsTheIdentity) {
    const TemporaryFolder folder;
    std::vector<double> values(12);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1 / (1 + static_cast<double>(i));
    const std::vector<Reward> rewards{Reward(shape, values), Reward(shape, std::vector<double>(12, 0.3)),
                                      Reward::constant(shape, 0.1), Reward(shape, {0.1, 1e-300, 1.0 / 3, 1})};
    for (const Reward& reward : rewards)
        for (const char* name : {"r.json", "r.npz"}) {
            write_reward(folder / name, reward);
            const ScaledReward back = read_reward(folder / name, shape);
            EXPECT_EQ(back.reward, reward) << name;
            EXPECT_EQ(back.scale, RewardScale{});
        }
}

TEST(RewardFile, ReadsArraysOfBothShapes) {
    const TemporaryFolder folder;
    EXPECT_EQ(read_reward(write_array(folder, "arr_0", detail::NpyArray::of_reals({2, 2}, {0, 0.25, 0.5, 1})),
                          shape)
                  .reward,
              Reward(shape, {0, 0.25, 0.5, 1}));
    const std::vector<std::int64_t> bits{0, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1};
    EXPECT_EQ(
        read_reward(write_array(folder, "r", detail::NpyArray::of_integers({3, 2, 2}, bits, "|b1")), shape)
            .reward,
        Reward(shape, {bits.begin(), bits.end()}));
}

TEST(RewardFile, ArraysThatDoNotFitAreRefused) {
    const TemporaryFolder folder;
    const auto told = [&](detail::NpyArray array) {
        return refusal([&] { read_reward(write_array(folder, "reward", std::move(array)), shape); });
    };
    EXPECT_TRUE(
        says(told(detail::NpyArray::of_reals({4}, {0, 0, 0, 0})), {"r.npz", "(4)", "(2, 2)", "(3, 2, 2)"}));
    EXPECT_TRUE(says(told(detail::NpyArray::of_text("x")), {"r.npz"}));
    EXPECT_TRUE(says(told(detail::NpyArray::of_reals({2, 2}, {0, 0, 1.5, 0})),
                     {"r.npz: array 'reward', state 1, action 0: is 1.5", "from 0 to 1", "--rescale"}));
    std::vector<double> values(12);
    values[9] = std::nan("");
    EXPECT_TRUE(
        says(told(detail::NpyArray::of_reals({3, 2, 2}, values)), {"step 2, state 0, action 1: is nan"}));
    detail::NpzArrays two;
    two.emplace("a", detail::NpyArray::of_reals({2, 2}, {0, 0, 0, 0}));
    two.emplace("b", detail::NpyArray::of_reals({2, 2}, {0, 0, 0, 0}));
    detail::write_npz(folder / "two.npz", two);
    EXPECT_TRUE(
        says(refusal([&] { read_reward(folder / "two.npz", shape); }), {"'reward' is missing", "a, b"}));
}

TEST(RewardFile, ValuesOutsideTheUnitIntervalAreNamed) {
    EXPECT_TRUE(says(refused(R"({"entries": [{"state": 0, "reward": 1}, {"state": 1, "reward": 1.5}]})"),
                     {"r.json: entry 1, \"reward\": is 1.5", "from 0 to 1", "--rescale"}));
    EXPECT_TRUE(says(refused(R"({"default": -0.5})"), {"r.json: \"default\": is -0.5"}));
}

TEST(RewardFile, MistakesAreNamedWithTheirPlace) {
    EXPECT_TRUE(says(refused("{\n\"default\": ,}"), {"r.json", "line 2"}));
    EXPECT_TRUE(says(refused("[1]"), {"object", "default, entries"}));
    EXPECT_TRUE(says(refused(R"({"defualt": 1})"), {"unknown key \"defualt\"", "default, entries"}));
    EXPECT_TRUE(says(refused(R"({"default": "x"})"), {"\"default\": is \"x\"", "number"}));
    EXPECT_TRUE(says(refused(R"({"default": 1e999})"), {"r.json", "not valid JSON"}));
    EXPECT_TRUE(says(refused(R"({"entries": {}})"), {"\"entries\": is {}", "list"}));
    EXPECT_TRUE(says(refused(R"({"entries": [3]})"), {"entry 0: is 3"}));
    EXPECT_TRUE(says(refused(R"({"entries": [{"reward": 1}]})"), {"entry 0", "\"state\" is missing"}));
    EXPECT_TRUE(says(refused(R"({"entries": [{"state": 1}]})"), {"entry 0", "\"reward\" is missing"}));
    EXPECT_TRUE(
        says(refused(R"({"entries": [{"state": 2, "reward": 1}]})"), {"entry 0, \"state\": is 2", "0 to 1"}));
    EXPECT_TRUE(
        says(refused(R"({"entries": [{"state": 0, "action": -1, "reward": 1}]})"), {"\"action\": is -1"}));
    EXPECT_TRUE(says(refused(R"({"entries": [{"state": 0, "step": 3, "reward": 1}]})"),
                     {"\"step\": is 3", "0 to 2"}));
    EXPECT_TRUE(
        says(refused(R"({"entries": [{"state": 0, "time": 3, "reward": 1}]})"), {"unknown key \"time\""}));
    EXPECT_TRUE(says(refused(R"({"entries": [{"state": 0, "reward": null}]})"), {"\"reward\": is null"}));
    EXPECT_TRUE(says(refusal([] { read_reward("r.csv", shape); }), {"r.csv", ".json or .npz"}));
}

TEST(RewardFile, RescalingMapsTheRangeOntoTheUnitInterval) {
    const TemporaryFolder folder;
    const auto path =
        folder.write("r.json", R"({"default": -2, "entries": [{"state": 0, "action": 0, "reward": 6},
                                                {"state": 1, "action": 1, "reward": 0}]})");
    EXPECT_THROW(read_reward(path, shape), InvalidArgument);
    const ScaledReward scaled = read_reward(path, shape, {.rescale = true});
    EXPECT_EQ(scaled.reward, Reward(shape, {1, 0, 0, 0.25}));
    EXPECT_EQ(scaled.scale, (RewardScale{8, -2}));
}

TEST(RewardFile, RescalingLeavesRewardsInRangeAlone) {
    const TemporaryFolder folder;
    const auto path =
        folder.write("r.json", R"({"default": 0.25, "entries": [{"state": 0, "reward": 0.5}]})");
    const ScaledReward scaled = read_reward(path, shape, {.rescale = true});
    EXPECT_EQ(scaled.reward, Reward(shape, {0.5, 0.5, 0.25, 0.25}));
    EXPECT_EQ(scaled.scale, RewardScale{});
}

TEST(RewardFile, RescalingAConstantAndAnInfiniteRange) {
    const TemporaryFolder folder;
    const ScaledReward scaled =
        read_reward(folder.write("r.json", R"({"default": 5})"), shape, {.rescale = true});
    EXPECT_EQ(scaled.reward, Reward::constant(shape, 0));
    EXPECT_EQ(scaled.scale, (RewardScale{1, 5}));
    const auto wide =
        folder.write("w.json", R"({"default": -1.7e308, "entries": [{"state": 0, "reward": 1.7e308}]})");
    EXPECT_TRUE(
        says(refusal([&] { read_reward(wide, shape, {.rescale = true}); }), {"w.json", "too far apart"}));
}

}  // namespace
}  // namespace alidade::testing::reward_file_test
