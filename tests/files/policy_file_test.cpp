#include "alidade/files/policy_file.hpp"

#include "support/files.hpp"

namespace alidade::testing::policy_file_test {
namespace {

const Shape shape{2, 3, 2};

std::string refused(std::string_view text) {
    const TemporaryFolder folder;
    return refusal([&] { read_policy(folder.write("plan.json", text), shape); });
}

TEST(PolicyFile, ReadsAnActionPerStateAndStep) {
    const TemporaryFolder folder;
    const Policy policy = read_policy(folder.write("p.json", R"({"policy": [[0, 2], [1, 0]]})"), shape);
    EXPECT_EQ(policy, Policy::deterministic(shape, {0, 2, 1, 0}));
}

TEST(PolicyFile, CellsMayBeProbabilities) {
    const TemporaryFolder folder;
    const Policy policy =
        read_policy(folder.write("p.json", R"({"policy": [[0, [0.25, 0.5, 0.25]], [1, [0, 1, 0]]]})"), shape);
    EXPECT_EQ(policy, Policy::stochastic(shape, {1, 0, 0, 0.25, 0.5, 0.25, 0, 1, 0, 0, 1, 0}));
}

TEST(PolicyFile, WritingThenReadingIsTheIdentity) {
    const TemporaryFolder folder;
    const Policy deterministic = Policy::deterministic(shape, {2, 1, 0, 2});
    const Policy stochastic =
        Policy::stochastic(shape, {0.1, 0.2, 0.7, 1, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1e-300, 0.5, 0.5});
    for (const Policy& policy : {deterministic, stochastic, Policy::uniform(shape)}) {
        write_policy(folder / "p.json", policy);
        EXPECT_EQ(read_policy(folder / "p.json", shape), policy);
    }
}

TEST(PolicyFile, MistakesAreNamedWithTheirPlace) {
    EXPECT_TRUE(says(refused("{"), {"plan.json", "not valid JSON", "line 1"}));
    EXPECT_TRUE(says(refused("[]"), {"plan.json", "object"}));
    EXPECT_TRUE(says(refused("{}"), {"\"policy\" is missing"}));
    EXPECT_TRUE(says(refused(R"({"policy": 3})"), {"\"policy\": is 3", "list"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 0]]})"), {"1 rows", "must have 2"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 0], [0, 0]], "more": 1})"), {"unknown key \"more\""}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 0], 7]})"), {"step 1", "is 7"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 0], [0]]})"), {"step 1 has 1 cells", "must have 2"}));
    EXPECT_TRUE(
        says(refused(R"({"policy": [[0, 0], [0, 3]]})"), {"step 1, state 1, action: is 3", "0 to 2"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, -1], [0, 0]]})"), {"step 0, state 1, action: is -1"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, 1.0], [0, 0]]})"), {"is 1.0", "integer"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, "up"], [0, 0]]})"), {"is \"up\""}));
    EXPECT_TRUE(
        says(refused(R"({"policy": [[0, 18446744073709551615], [0, 0]]})"), {"18446744073709551615"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, [1, 0]], [0, 0]]})"), {"2 probabilities", "must have 3"}));
    EXPECT_TRUE(
        says(refused(R"({"policy": [[0, [0.5, 0.4, 0]], [0, 0]]})"), {"step 0, state 1", "sum to 0.9"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, [1.5, -0.5, 0]], [0, 0]]})"), {"action 0: is 1.5"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, [0.5, -0.5, 1]], [0, 0]]})"), {"action 1: is -0.5"}));
    EXPECT_TRUE(says(refused(R"({"policy": [[0, [0.5, null, 0.5]], [0, 0]]})"), {"action 1: is null"}));
}

}  // namespace
}  // namespace alidade::testing::policy_file_test
