#include "alidade/process/plan_file.hpp"

#include <cmath>

#include "support/files.hpp"

namespace alidade::testing::plan_file_test {
namespace {

const Shape shape{2, 3, 2};

Plan read(std::string_view text) {
    const TemporaryFolder folder;
    return detail::read_plan(folder.write("policy.json", text), shape);
}

std::string refused(std::string_view text) {
    return refusal([&] { read(text); });
}

TEST(PlanFile, ReadsAPolicyAndItsClaims) {
    const Plan plan =
        read(R"({"policy": [[0, 2], [1, 0]], "value": 1.25, "accuracy": 1e-6, "planner": "a tool 2.0"})");
    EXPECT_EQ(plan.policy, Policy::deterministic(shape, {0, 2, 1, 0}));
    EXPECT_EQ(plan.claimed_value, 1.25);
    EXPECT_EQ(plan.claimed_accuracy, 1e-6);
}

TEST(PlanFile, WithoutClaimsNothingIsClaimed) {
    const Plan plan = read(R"({"policy": [[0, [0.5, 0, 0.5]], [1, 0]]})");
    EXPECT_FALSE(plan.policy.is_deterministic());
    EXPECT_FALSE(plan.claimed_value.has_value());
    EXPECT_TRUE(std::isinf(plan.claimed_accuracy));
}

TEST(PlanFile, ChoicesOfTheUnrolledModelAreStepMajorAndEndAndStartAreNotRead) {
    const Policy expected = Policy::deterministic(shape, {0, 2, 1, 0});
    EXPECT_EQ(read(R"({"choices": [0, 2, 1, 0, 0]})").policy, expected);
    EXPECT_EQ(read(R"({"choices": [0, 2, 1, 0, 0, 7]})").policy, expected);
}

TEST(PlanFile, MistakesAreNamedWithTheirPlace) {
    EXPECT_TRUE(says(refused("{}"), {"policy.json", "\"policy\" and \"choices\"", "neither"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0,0],[0,0]], "choices": [0,0,0,0,0]})"), {"both"}));
    EXPECT_TRUE(says(refused("["), {"policy.json", "not valid JSON"}));
    EXPECT_TRUE(says(refused("[]"), {"policy.json", "object"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0,0],[0,3]]})"), {"step 1, state 1, action: is 3", "0 to 2"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0, 0, 0, 0]})"), {"policy.json", "4", "5", "6"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0,0,0,0,0,0,0]})"), {"policy.json", "7"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0, 0, 0, 9, 0]})"), {"step 1, state 1", "is 9"}));
    EXPECT_TRUE(says(refused(R"({"choices": 4})"), {"\"choices\": is 4", "list"}));
    EXPECT_TRUE(
        says(refused(R"({"choices": [0,0,0,0,0], "value": "much"})"), {"\"value\"", "finite number"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0,0,0,0,0], "accuracy": -1})"), {"\"accuracy\": is -1"}));
    EXPECT_TRUE(says(refused(R"({"choices": [0,0,0,0,0], "accurracy": 0})"), {"unknown key \"accurracy\""}));
}

}  // namespace
}  // namespace alidade::testing::plan_file_test
