#include "alidade/formats/cassandra_file.hpp"

#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "alidade/random/stream.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::cassandra_file_test {
namespace {

using support::ExplicitFeatures;

/// What the grammar makes of a file, by a reader that shares nothing with the writer: words are separated by
/// blanks and colons, as in pomdp-solve's scanner.
struct Parsed {
    double discount = -1;
    Index states = 0;
    std::vector<std::string> actions;
    std::vector<Index> start;
    bool observations = false;
    std::set<Index> seen;  // states that are observed as themselves, surely
    std::map<std::tuple<std::string, Index, Index>, double> transitions;
    std::map<std::pair<std::string, Index>, double> rewards;
};

/// A number as the scanner knows it: an integer, or digits on both sides of a point and perhaps an exponent.
double number(const std::string& text) {
    static const std::regex form(R"(-?[0-9]+(\.[0-9]+([eE][-+]?[0-9]+)?)?)");
    EXPECT_TRUE(std::regex_match(text, form)) << text;
    return std::stod(text);
}

Parsed parse(const std::string& text) {
    Parsed result;
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
        for (char& c : line)
            if (c == ':') c = ' ';
        std::istringstream words(line);
        std::vector<std::string> word;
        for (std::string w; words >> w;) word.push_back(w);
        if (word[0] == "discount") {
            result.discount = number(word.at(1));
        } else if (word[0] == "values") {
            EXPECT_EQ(word.at(1), "reward");
        } else if (word[0] == "states") {
            result.states = std::stol(word.at(1));
        } else if (word[0] == "observations") {
            result.observations = true;
            EXPECT_EQ(std::stol(word.at(1)), result.states);
        } else if (word[0] == "actions") {
            result.actions.assign(word.begin() + 1, word.end());
            for (const std::string& name : result.actions)
                EXPECT_TRUE(std::regex_match(name, std::regex("[A-Za-z_][A-Za-z0-9_-]*"))) << name;
        } else if (word[0] == "start") {
            // A law: a single number would be read as one, too.
            EXPECT_EQ(word.size(), static_cast<std::size_t>(result.states) + 1) << line;
            double sum = 0;
            for (std::size_t i = 1; i < word.size(); ++i) {
                if (number(word[i]) > 0) result.start.push_back(static_cast<Index>(i) - 1);
                sum += number(word[i]);
            }
            EXPECT_NEAR(sum, 1, 1e-12);
        } else if (word[0] == "O") {
            // "identity" is a word of T alone.
            EXPECT_EQ(word.size(), 5U) << line;
            EXPECT_EQ(word.at(1), "*");
            EXPECT_EQ(word.at(2), word.at(3));
            EXPECT_EQ(number(word.at(4)), 1);
            result.seen.insert(std::stol(word.at(2)));
        } else if (word[0] == "T") {
            EXPECT_EQ(word.size(), 5U);
            const auto key =
                std::tuple(word.at(1), Index{std::stol(word.at(2))}, Index{std::stol(word.at(3))});
            EXPECT_TRUE(result.transitions.emplace(key, number(word.at(4))).second) << line;
        } else {
            EXPECT_EQ(word[0], "R");
            EXPECT_EQ(word.size(), result.observations ? 6U : 5U) << line;
            result.rewards[{word.at(1), std::stol(word.at(2))}] = number(word.back());
        }
    }
    return result;
}

/// Every choice of the model is an action of the file, every action of the file is a choice, and all numbers
/// are the same.
void expect_same(const Parsed& parsed, const ExplicitModel& model) {
    ASSERT_EQ(parsed.states, model.header.states);
    std::vector<Index> initial(model.header.initial_states.begin(), model.header.initial_states.end());
    EXPECT_EQ(parsed.start, initial);
    const std::size_t structures = model.header.rewards.size();
    for (Index s = 0; s < parsed.states; ++s) {
        const ExplicitState& row = model.states[static_cast<std::size_t>(s)];
        using Law = std::pair<std::vector<std::pair<Index, double>>, double>;
        std::vector<Law> wanted, found;
        for (std::size_t c = 0; c < static_cast<std::size_t>(row.choices()); ++c) {
            Law law;
            for (auto b = static_cast<std::size_t>(row.offsets[c]);
                 b < static_cast<std::size_t>(row.offsets[c + 1]); ++b)
                law.first.emplace_back(row.targets[b], row.lower[b]);
            if (structures > 0) law.second = row.state_rewards[0] + row.choice_rewards[c * structures];
            wanted.push_back(law);
        }
        for (const std::string& action : parsed.actions) {
            Law law;
            for (auto t = parsed.transitions.lower_bound({action, s, 0});
                 t != parsed.transitions.end() && std::get<0>(t->first) == action &&
                 std::get<1>(t->first) == s;
                 ++t)
                law.first.emplace_back(std::get<2>(t->first), t->second);
            const auto reward = parsed.rewards.find({action, s});
            law.second = reward == parsed.rewards.end() ? 0 : reward->second;
            EXPECT_NE(std::find(wanted.begin(), wanted.end(), law), wanted.end()) << action << " in " << s;
            found.push_back(law);
        }
        for (const Law& law : wanted) EXPECT_NE(std::find(found.begin(), found.end(), law), found.end());
    }
}

TEST(CassandraFile, HoldsTheModelByAnIndependentParser) {
    const TemporaryFolder folder;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Stream random(seed, Purpose::test);
        ExplicitFeatures with;
        with.unnamed_choices = seed % 2 == 0;
        const ExplicitModel model = support::random_explicit_model(random, with);
        const std::string reward = model.header.rewards.empty() ? "" : model.header.rewards[0];
        const auto path = folder / fmt::format("{}.POMDP", seed);
        detail::write_cassandra(path, RowsOfModel(model), {0.5, reward, seed % 3 == 0});
        const Parsed parsed = parse(bytes_of(path));
        EXPECT_EQ(parsed.discount, 0.5);
        EXPECT_EQ(parsed.observations, seed % 3 == 0);
        EXPECT_EQ(parsed.seen.size(), seed % 3 == 0 ? static_cast<std::size_t>(parsed.states) : 0U);
        expect_same(parsed, model);
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
}

ExplicitModel two_states() {
    ExplicitModel model;
    model.header = {BranchKind::point, 2, 3, 4, {}, {"T", "go on"}, {}, {"r"}, {0, 1}};
    model.states.resize(2);
    model.states[0] = {{}, {0, 1}, {0, 2, 3}, {0, 1, 1}, {1e-5, 1 - 1e-5, 1}, {}, {}, {2}, {0, -1e20}};
    model.states[1] = {{}, {1}, {0, 1}, {1}, {1}, {}, {}, {0}, {0}};
    return model;
}

TEST(CassandraFile, WritesWhatTheGrammarAsksFor) {
    const TemporaryFolder folder;
    detail::write_cassandra(folder / "m.MDP", RowsOfModel(two_states()));
    EXPECT_EQ(bytes_of(folder / "m.MDP"),
              "discount: 1.0\nvalues: reward\nstates: 2\nactions: T_ go_on\nstart: 0.5 0.5\n"
              "T: T_ : 0 : 0 1.0e-05\nT: T_ : 0 : 1 0.99999\nR: T_ : 0 : * 2.0\n"
              "T: go_on : 0 : 1 1.0\nR: go_on : 0 : * -1.0e+20\n"
              "T: T_ : 1 : 1 1.0\nT: go_on : 1 : 1 1.0\n");
}

TEST(CassandraFile, RefusesWhatItCannotKeep) {
    const TemporaryFolder folder;
    ExplicitModel model = two_states();
    const auto refused = [&](const detail::CassandraOptions& options) {
        return refusal([&] { detail::write_cassandra(folder / "m.MDP", RowsOfModel(model), options); });
    };
    EXPECT_TRUE(says(refused({.discount = 1.5}), {"m.MDP", "1.5"}));
    EXPECT_TRUE(says(refused({.reward = "x"}), {"m.MDP", "'x'", "r"}));
    model.header.kind = BranchKind::interval;
    EXPECT_TRUE(says(refused({}), {"m.MDP", "intervals"}));
}

}  // namespace
}  // namespace alidade::testing::cassandra_file_test
