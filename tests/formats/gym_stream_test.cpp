#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "alidade/formats/gym_file.hpp"
#include "support/files.hpp"
#include "support/random_models.hpp"

// P dictionaries are read while they come in: the same model as from the whole document in memory, whatever
// the order of the keys, and nothing that a file merely announces is allocated.

namespace alidade::testing::gym_stream_test {
namespace {

using nlohmann::json;
using support::test_stream;

/// Keys in a random order; nlohmann::json would sort them.
std::string dictionary(Stream& random, const std::vector<std::string>& values, bool shuffled) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (shuffled)
        for (std::size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1],
                      order[static_cast<std::size_t>(sample_index(random, static_cast<Index>(i)))]);
    std::string text = "{";
    for (const std::size_t i : order)
        text += fmt::format("{}\"{}\": {}", text.size() > 1 ? ", " : "", i, values[i]);
    return text + "}";
}

std::string container(Stream& random, const std::vector<std::string>& values) {
    const Index kind = sample_index(random, 3);
    return kind == 0 ? fmt::format("[{}]", fmt::join(values, ", ")) : dictionary(random, values, kind == 1);
}

/// Next states repeat, branches of probability 0 and terminated ones are among them, and so are states that
/// only lead to themselves. Probabilities are eighths, whose sums are exact.
std::string random_choice(Stream& random, Index states, Index state) {
    const bool stays = sample_index(random, 4) == 0;
    std::vector<std::string> branches;
    for (Index left = 8; left > 0;) {
        const Index share = sample_index(random, left + 1);
        left -= share;
        branches.push_back(fmt::format("[{}, {}, {}, {}]", static_cast<double>(share) / 8,
                                       stays ? state : sample_index(random, states),
                                       stays ? 0 : sample_index(random, 3), sample_index(random, 3) == 0));
    }
    return fmt::format("[{}]", fmt::join(branches, ", "));
}

std::string random_text(Stream& random) {
    const Index states = 1 + sample_index(random, 13);
    std::vector<std::string> rows;
    for (Index s = 0; s < states; ++s) {
        std::vector<std::string> choices;
        for (Index k = 1 + sample_index(random, 12); k > 0; --k)
            choices.push_back(random_choice(random, states, s));
        rows.push_back(container(random, choices));
    }
    const std::string p = container(random, rows);
    if (sample_index(random, 3) == 0) return p;
    std::vector<double> law(static_cast<std::size_t>(states), 0);
    law[static_cast<std::size_t>(sample_index(random, states))] += 0.25;
    law[static_cast<std::size_t>(sample_index(random, states))] += 0.75;
    return sample_index(random, 2) == 0
               ? fmt::format(R"({{"P": {}, "initial_state_distrib": [{}]}})", p, fmt::join(law, ", "))
               : fmt::format(R"({{"initial_state_distrib": [{}], "P": {}}})", fmt::join(law, ", "), p);
}

/// The elements of a list, or of a dictionary by its numbers.
std::vector<json> elements(const json& value) {
    std::vector<json> result;
    for (std::size_t i = 0; i < value.size(); ++i)
        result.push_back(value.is_array() ? value[i] : value.at(std::to_string(i)));
    return result;
}

/// What a document means, from all of it in memory.
struct Meaning {
    std::vector<std::vector<std::map<std::int64_t, double>>> laws;
    std::vector<std::vector<double>> rewards;
    std::vector<bool> ends;
    bool rewarded = false;
};

bool only_stays(const json& choices, std::size_t state) {
    for (const json& choice : elements(choices))
        for (const json& branch : choice)
            if (branch[0] > 0 && (branch[1] != state || branch[2] != 0)) return false;
    return true;
}

Meaning meaning_of(const json& p) {
    const std::vector<json> states = elements(p);
    Meaning meaning;
    meaning.ends.resize(states.size());
    for (const json& choices : states) {
        meaning.laws.emplace_back();
        meaning.rewards.emplace_back();
        for (const json& choice : elements(choices)) {
            std::map<std::int64_t, double> law;
            double reward = 0;
            for (const json& branch : choice) {
                if (branch[0] == 0) continue;
                std::size_t next = branch[1];
                if (branch[3] && !only_stays(states[next], next))
                    next = states.size();
                else if (branch[3])
                    meaning.ends[next] = true;
                law[static_cast<std::int64_t>(next)] += branch[0].get<double>();
                reward += branch[0].get<double>() * branch[2].get<double>();
                meaning.rewarded = meaning.rewarded || branch[2] != 0;
            }
            meaning.laws.back().push_back(law);
            meaning.rewards.back().push_back(reward);
        }
    }
    return meaning;
}

void expect_meaning(const ExplicitModel& model, const json& whole) {
    const bool wrapped = whole.is_object() && whole.contains("P");
    const Meaning meaning = meaning_of(wrapped ? whole["P"] : whole);
    ASSERT_EQ(!model.header.rewards.empty(), meaning.rewarded);
    for (std::size_t s = 0; s < meaning.laws.size(); ++s) {
        const ExplicitState& row = model.states[s];
        ASSERT_EQ(row.actions.size(), meaning.laws[s].size());
        EXPECT_EQ(!row.labels.empty(), meaning.ends[s]);
        if (meaning.rewarded) {
            EXPECT_EQ(row.choice_rewards, meaning.rewards[s]);
        }
        for (std::size_t k = 0; k < row.actions.size(); ++k) {
            std::map<std::int64_t, double> law;
            for (auto i = row.offsets[k]; i < row.offsets[k + 1]; ++i)
                law[row.targets[static_cast<std::size_t>(i)]] = row.lower[static_cast<std::size_t>(i)];
            EXPECT_EQ(law, meaning.laws[s][k]) << s << ' ' << k;
        }
    }
}

TEST(GymStream, GivesWhatTheWholeDocumentMeans) {
    const TemporaryFolder folder;
    Stream random = test_stream(11);
    for (int i = 0; i < 150; ++i) {
        const std::string text = random_text(random);
        SCOPED_TRACE(text);
        const ExplicitModel model = detail::parse_gym(text, "p.json");
        expect_meaning(model, json::parse(text));
        EXPECT_EQ(detail::read_gym(folder.write("p.json", text)), model);
    }
}

TEST(GymStream, KeysComeInAnyOrder) {
    // As json.dump(..., sort_keys=True) writes them: 0, 1, 10, 11, 2, ...
    std::map<std::string, std::string> sorted, choices;
    std::string states, list;
    for (int s = 0; s < 12; ++s) {
        choices[std::to_string(s)] = fmt::format("[[1, {}, {}, false]]", s, s + 1);
        list += fmt::format("{}[[1, {}, {}, false]]", s == 0 ? "" : ", ", s, s + 1);
    }
    std::string row;
    for (const auto& [key, value] : choices)
        row += fmt::format("{}\"{}\": {}", row.empty() ? "" : ", ", key, value);
    for (int s = 0; s < 12; ++s) sorted[std::to_string(s)] = "{" + row + "}";
    std::string rows, lists;
    for (const auto& [key, value] : sorted) {
        rows += fmt::format("{}\"{}\": {}", rows.empty() ? "" : ", ", key, value);
        lists += fmt::format("{}[{}]", lists.empty() ? "" : ", ", list);
    }
    EXPECT_EQ(detail::parse_gym("{" + rows + "}", "p.json"), detail::parse_gym("[" + lists + "]", "p.json"));
    EXPECT_EQ(
        detail::parse_gym(
            R"({"initial_state_distrib": [0, 1], "P": {"1": [[[1, 0, 5, false]]], "0": [[[1, 1, 4, false]]]}})",
            "p.json"),
        detail::parse_gym(
            R"({"P": [[[[1, 1, 4, false]]], [[[1, 0, 5, false]]]], "initial_state_distrib": [0, 1]})",
            "p.json"));
}

TEST(GymStream, KeysThatComeTwiceAreRefused) {
    const auto refused = [](const std::string& text) {
        return refusal([&] { detail::parse_gym(text, "p.json"); });
    };
    const std::string choice = "[[1, 0, 0, false]]", state = "{\"0\": " + choice + "}";
    EXPECT_TRUE(
        says(refused("{\"0\": " + state + ", \"0\": " + state + "}"), {"p.json: P: ", "\"0\"", "twice"}));
    EXPECT_TRUE(
        says(refused("{\"1\": {\"0\": " + choice + ", \"1\": " + choice + ", \"1\": " + choice + "}}"),
             {"p.json: P[1]: ", "\"1\"", "twice"}));
    EXPECT_TRUE(
        says(refused("{\"P\": [" + state + "], \"P\": [" + state + "]}"), {"p.json", "\"P\"", "twice"}));
    EXPECT_TRUE(says(
        refused("{\"P\": [" + state + "], \"initial_state_distrib\": [1], \"initial_state_distrib\": [1]}"),
        {"initial_state_distrib", "twice"}));
    // One below the other shadows nothing: "P" beside numbers is no state.
    EXPECT_TRUE(says(refused("{\"0\": " + state + ", \"P\": [" + state + "]}"), {"\"P\""}));
    EXPECT_TRUE(says(refused("{\"P\": [" + state + "], \"0\": " + state + "}"), {"unknown key", "\"0\""}));
    EXPECT_TRUE(says(refused("{\"initial_state_distrib\": [1]}"), {"\"P\" is missing"}));
}

TEST(GymStream, HugeNumbersAllocateNothing) {
    const auto refused = [](const std::string& text) {
        return refusal([&] { detail::parse_gym(text, "p.json"); });
    };
    const std::string state = "{\"0\": [[1, 0, 0, false]]}";
    for (const std::string key : {"9223372036854775807", "4000000000", "1"})
        EXPECT_TRUE(says(refused("{\"" + key + "\": " + state + "}"), {"P: has 1 keys", "\"0\""}));
    for (const std::string key : {"9223372036854775808", "-1", "00", "", "0x1", "1 ", "+1", "1e3"})
        EXPECT_TRUE(says(refused("{\"" + key + "\": " + state + "}"), {"P: has the key", "\"0\", \"1\""}))
            << key;
    EXPECT_TRUE(says(refused("[{\"8000000000\": [[1, 0, 0, false]]}]"), {"P[0]: has 1 keys", "\"0\""}));
    // Next states: of branches that stay, and of those that are dropped.
    for (const std::string p : {"1.0", "0.0"})
        for (const std::string next : {"1", "9223372036854775806", "9223372036854775807",
                                       "18446744073709551615", "1e30", "-1", "100000000000000000000000"})
            for (const std::string terminated : {"true", "false"})
                EXPECT_TRUE(says(refused("[[[[1, 0, 0, false]], [[" + p + ", " + next + ", 0, " + terminated +
                                         "], [1, 0, 0, false]]]]"),
                                 {"P[0][1], next state: is ", "must be an integer from 0"}))
                    << next;
}

TEST(GymStream, WhatIsNotFiniteOrInTheWrongPlaceIsNamed) {
    using Case = std::pair<std::string, std::vector<std::string>>;
    const std::vector<Case> cases{
        {"[[[[NaN, 0, 0, false]]]]", {"JSON", "line 1"}},
        {"[[[[1, 0, Infinity, false]]]]", {"JSON"}},
        {"[[[[1, 0, -1e999, false]]]]", {"JSON", "-1e999"}},
        {"[[[[1, 0, 1e308, false], [1, 0, -1e308, false], [1e10, 0, 1e308, false]]]]", {"not finite"}},
        {"[[[[1, 0, 0, false, 3]]]]", {"P[0][0]: is [1,0,0,false,...]", "[probability, next state"}},
        {"[[[[]]]]", {"P[0][0]: is []", "[probability, next state"}},
        {"[[[[[1], 0, 0, false]]]]", {"P[0][0], probability: is a list", "finite number"}},
        {"[[[[1, {\"a\": 0}, 0, false]]]]", {"P[0][0], next state: is an object", "integer"}},
        {"[[[[1, 0, 0, [false]]]]]", {"P[0][0], terminated: is a list", "true or false"}},
        {"[[[[true, 0, 0, false]]]]", {"P[0][0], probability: is true"}},
        {"[[[{\"p\": 1}]]]", {"P[0][0]: is an object", "[probability"}},
        {"[[[\"x\"]]]", {"P[0][0]: is \"x\"", "[probability"}},
        {"[[{\"0\": []}]]", {"P[0][0]: is an object", "must be a list"}},
        {"[[[[1, 0, 0, false]], 7]]", {"P[0][1]: is 7", "must be a list"}},
        {"[null]", {"P[0]: is null", "dictionary or a list"}},
        {"{\"0\": [[[1, 0, 0, false]]], \"1\": \"a\"}", {"P[1]: is \"a\"", "dictionary or a list"}},
        {"{\"P\": 3}", {"P: is 3", "dictionary or a list"}},
        {"\"abc\"", {"P: is \"abc\""}},
        {"{\"P\": [[[[1, 0, 0, false]]]], \"initial_state_distrib\": {}}", {"distrib: is an object", "list"}},
        {"{\"P\": [[[[1, 0, 0, false]]]], \"initial_state_distrib\": 1}", {"distrib: is 1", "list"}},
        {"{\"P\": [[[[1, 0, 0, false]]]], \"initial_state_distrib\": [\"1\"]}",
         {"distrib: is \"1\"", "finite"}},
        {"{\"P\": [[[[1, 0, 0, false]]]], \"initial_state_distrib\": [[1]]}",
         {"distrib: is a list", "finite"}},
        {"{\"P\": [[[[1, 0, 0, false]]]], \"initial_state_distrib\": []}", {"0 elements", "1"}},
        {"[[[[1, 0, 0, false]]]] []", {"JSON", "line 1"}},
        {"{\"P\": {}}", {"P: is empty"}},
        {"{\"0\": {}}", {"P[0]: is empty"}},
    };
    for (const auto& [text, parts] : cases) {
        const std::string message = refusal([&] { detail::parse_gym(text, "p.json"); });
        for (const std::string& part : parts) EXPECT_TRUE(says(message, {"p.json: ", part})) << text;
    }
}

TEST(GymStream, ATruncatedFileIsRefusedAtEveryLength) {
    const TemporaryFolder folder;
    const std::string text =
        R"({"P": {"1": {"0": [[0.5, 0, -1.5, false], [0.5, 1, 0, true]]}, "0": [[[1.0, 1, 0, true]]]},
            "initial_state_distrib": [0.5, 0.5]})";
    // Terminated branches lead to one more state.
    EXPECT_EQ(detail::parse_gym(text, "p.json").header.branches, 1 + 2 + 1);
    for (std::size_t length = 0; length < text.size(); ++length) {
        const std::string cut = text.substr(0, length);
        EXPECT_TRUE(
            says(refusal([&] { detail::parse_gym(cut, "p.json"); }), {"p.json: not valid JSON", "line"}));
        EXPECT_TRUE(says(refusal([&] { detail::read_gym(folder.write("q.json", cut)); }),
                         {"q.json: not valid JSON"}));
    }
}

}  // namespace
}  // namespace alidade::testing::gym_stream_test
