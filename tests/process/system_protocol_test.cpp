#include "alidade/process/system_protocol.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/files.hpp"

namespace alidade::testing::system_protocol_test {
namespace {

using nlohmann::json;

const Shape shape{3, 2, 2};

Policy policy() {
    return Policy::deterministic(shape, {0, 1, 0, 1, 1, 0});
}

TEST(SystemProtocol, RequestsAreOneObjectALine) {
    EXPECT_EQ(json::parse(detail::info_request(shape)),
              json::parse(R"({"op":"info","protocol":1,"states":3,"actions":2,"horizon":2})"));
    EXPECT_EQ(json::parse(detail::reset_request(7, 9)),
              json::parse(R"({"op":"reset","episode":7,"seed":9})"));
    EXPECT_EQ(json::parse(detail::step_request(1, 0)), json::parse(R"({"op":"step","step":1,"action":0})"));
    const std::vector<std::uint64_t> seeds{5, 6};
    EXPECT_EQ(json::parse(detail::run_request(policy(), 4, seeds)),
              json::parse(
                  R"({"op":"run","first_episode":4,"episodes":2,"seeds":[5,6],"policy":[[0,1,0],[1,1,0]]})"));
}

TEST(SystemProtocol, SeedsFitADoubleAndDiffer) {
    std::set<std::uint64_t> seeds;
    for (const std::uint64_t seed : {0U, 1U})
        for (std::int64_t k = 0; k < 5000; ++k) {
            const std::uint64_t drawn = detail::episode_seed(seed, k);
            EXPECT_LT(drawn, std::uint64_t{1} << 53);
            seeds.insert(drawn);
        }
    // Of 10,000 independent ones two are equal with probability 6e-9.
    EXPECT_EQ(seeds.size(), 10'000U);
}

TEST(SystemProtocol, AnswersAreRead) {
    const detail::SystemInfo info = detail::parse_info(
        R"({"protocol": 1, "states": 3, "actions": 2, "action_names": ["a", "b"], "batches": true, "note": [1]})");
    EXPECT_EQ(info.states, 3);
    EXPECT_EQ(info.actions, 2);
    EXPECT_FALSE(info.horizon.has_value());
    EXPECT_EQ(info.action_names, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(info.batches);
    EXPECT_FALSE(info.seeded) << "who does not say so has no seeds";
    EXPECT_EQ(detail::parse_reset(R"({"state": 2, "episode": 7})", shape, 7), 2);
    EXPECT_EQ(detail::parse_step(R"({"state": 1, "step": 0})", shape, 0).state, 1);
    EXPECT_EQ(detail::parse_step(R"({"state": 1, "step": 0, "end": null})", shape, 0).end,
              detail::EpisodeEnd::none);
    EXPECT_EQ(detail::parse_step(R"({"state": 1, "step": 0, "end": "terminated"})", shape, 0).end,
              detail::EpisodeEnd::terminated);
    const auto episodes = detail::parse_run(
        R"({"first_episode": 4, "episodes": [{"states": [0, 2]}, {"states": [1], "actions": [], "end": "truncated"},
            {"states": [1, 0], "actions": [1, 1]}]})",
        policy(), 4, 3);
    ASSERT_EQ(episodes.size(), 3U);
    EXPECT_EQ(episodes[0].states, (std::vector<State>{0, 2}));
    EXPECT_EQ(episodes[1].end, detail::EpisodeEnd::truncated);
}

TEST(SystemProtocol, ErrorsOfTheSystemAreItsOwn) {
    try {
        detail::parse_step(R"({"error": "too hot"})", shape, 0);
        FAIL();
    } catch (const detail::SystemDeclined& error) {
        EXPECT_STREQ(error.what(), "too hot");
    }
}

TEST(SystemProtocol, WhatDoesNotFitIsRefusedWithWhatIsAllowed) {
    const auto info = [](const char* line) { return refusal([&] { detail::parse_info(line); }); };
    EXPECT_TRUE(says(info(""), {"no JSON", "one object"}));
    EXPECT_TRUE(says(info(R"({"protocol": 1, "states": 0, "actions": 2})"), {"\"states\"", "at least 1"}));
    EXPECT_TRUE(says(info(R"({"protocol": 1, "states": 3})"), {"\"actions\"", "missing"}));
    EXPECT_TRUE(says(info(R"({"protocol": 1, "states": 1e3, "actions": 2})"), {"\"states\"", "integer"}));
    EXPECT_TRUE(says(info(R"({"protocol": 9, "states": 3, "actions": 2})"), {"protocol 9"}));
    EXPECT_TRUE(says(info(R"({"protocol": 1, "states": 3, "actions": 2, "seeded": 1})"),
                     {"\"seeded\"", "true or false"}));
    EXPECT_TRUE(says(info(R"({"protocol": 1, "states": 3, "actions": 2, "action_names": ["a"]})"),
                     {"1 names", "must have 2"}));
    const auto reset = [](const char* line) { return refusal([&] { detail::parse_reset(line, shape, 7); }); };
    EXPECT_TRUE(says(reset(R"({"state": 0})"), {"\"episode\": 7"}));
    EXPECT_TRUE(says(reset(R"({"episode": 8, "state": 0})"), {"\"episode\": 7", "answered twice"}));
    EXPECT_TRUE(says(reset(R"({"episode": 7, "state": 3})"), {"is 3", "0 to 2"}));
    EXPECT_TRUE(says(reset(R"({"episode": 7, "state": "0"})"), {"integer"}));
    EXPECT_TRUE(says(reset(R"({"episode": 7, "state": 18446744073709551615})"), {"0 to 2"}));
    const auto run = [](const char* line) {
        return refusal([&] { detail::parse_run(line, policy(), 4, 1); });
    };
    EXPECT_TRUE(says(run(R"({"first_episode": 4, "episodes": []})"), {"0 episodes", "asked for 1"}));
    EXPECT_TRUE(
        says(run(R"({"first_episode": 3, "episodes": [{"states": [0, 0]}]})"), {"\"first_episode\": 4"}));
    EXPECT_TRUE(
        says(run(R"({"first_episode": 4, "episodes": [{"states": [0]}]})"), {"1 states", "no \"end\""}));
    EXPECT_TRUE(
        says(run(R"({"first_episode": 4, "episodes": [{"states": [0, 0, 0]}]})"), {"3 states", "1 to 2"}));
    EXPECT_TRUE(says(run(R"({"first_episode": 4, "episodes": [{"states": [0, 5]}]})"),
                     {"state 1 of episode 4", "5"}));
    EXPECT_TRUE(says(run(R"({"first_episode": 4, "episodes": [{"states": [0, 1], "actions": [1, 1]}]})"),
                     {"action 0 of episode 4 is 1", "policy says 0"}));
    EXPECT_TRUE(says(run(R"({"first_episode": 4, "counts": [[0, 0, 0, 1, 5]]})"), {"counts", "episodes"}));
}

}  // namespace
}  // namespace alidade::testing::system_protocol_test
