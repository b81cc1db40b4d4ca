#include "alidade/files/episode_file.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "alidade/environment/environment.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/files/npz.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing {
namespace {

/// Two states, two actions, three steps; state 0 under action 1 goes to 0 or 1, and under action 0 too;
/// state 1 under action 0 stays.
class EpisodeFile : public ::testing::Test {
protected:
    Counts fresh() const { return Counts(problem.shared_features(), problem.shape().horizon); }
    Counts read(const std::filesystem::path& path) const {
        Counts counts = fresh();
        read_episodes(path, problem.start(), counts);
        return counts;
    }
    std::string refused(std::string_view name, std::string_view text) const {
        const auto path = folder.write(name, text);
        return refusal([&] { read(path); });
    }
    std::string refused(const detail::NpzArrays& arrays) const {
        detail::write_npz(folder / "log.npz", arrays);
        return refusal([&] { read(folder / "log.npz"); });
    }
    static detail::NpzArrays arrays(std::vector<std::int64_t> shape, std::vector<std::int64_t> states,
                                    std::vector<std::int64_t> actions) {
        detail::NpzArrays result;
        result.emplace("states", detail::NpyArray::of_integers(shape, std::move(states)));
        result.emplace("actions", detail::NpyArray::of_integers(shape, std::move(actions), "<i4"));
        return result;
    }

    const Problem problem{small_description()};
    const TemporaryFolder folder;
};

TEST_F(EpisodeFile, EveryFormatCountsWhatEpisodesCount) {
    const Problem garnet =
        make_builtin("builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3");
    SimulatedEnvironment system(garnet.true_model());
    const Policy policy = Policy::uniform(garnet.shape());
    Counts expected(garnet.shared_features(), 4);
    std::string lines;
    std::vector<std::int64_t> states, actions;
    for (std::int64_t k = 0; k < 500; ++k) {
        const Episode episode = run_episode(system, policy, 7, k);
        expected.add(episode);
        lines += fmt::format("{{\"states\": [{}], \"actions\": [{}]}}\n", fmt::join(episode.states, ","),
                             fmt::join(episode.actions, ", "));
        states.insert(states.end(), episode.states.begin(), episode.states.end());
        actions.insert(actions.end(), episode.actions.begin(), episode.actions.end());
    }
    detail::write_npz(folder / "log.npz", arrays({500, 4}, states, actions));
    for (const auto& path :
         {folder.write("log.jsonl", lines), folder.write("log.ndjson", lines), folder / "log.npz"}) {
        Counts counts(garnet.shared_features(), 4);
        EXPECT_EQ(read_episodes(path, garnet.start(), counts), 500);
        EXPECT_EQ(counts, expected) << path;
        // A second file adds to the first.
        EXPECT_EQ(read_episodes(path, garnet.start(), counts), 500);
        EXPECT_EQ(counts.episodes(), 1000);
    }
}

TEST_F(EpisodeFile, TakesShortEpisodesCountsAndEmptyLines) {
    Counts expected = fresh();
    for (int time = 0; time < 4; ++time) expected.add({{0, 1, 1}, {0, 0, 1}});
    const std::vector<State> two{1, 1}, one{0};
    const std::vector<Action> action{0};
    expected.add(two, action);
    expected.add(one, {});
    const auto path =
        folder.write("log.jsonl",
                     "{\"states\": [0, 1, 1], \"actions\": [0, 0, 1], \"count\": 4}\r\n\n"
                     "{\"id\": \"x\", \"actions\": [0], \"states\": [1, 1], \"rewards\": [0.5]}\n"
                     "  {\"states\": [0], \"actions\": []}");
    EXPECT_EQ(read(path), expected);
    detail::NpzArrays npz = arrays({3, 3}, {0, 1, 1, 1, 1, -1, 0, -1, -1}, {0, 0, 1, 0, -1, -1, -1, -1, -1});
    npz.emplace("count", detail::NpyArray::of_integers({3}, {4, 1, 1}));
    detail::write_npz(folder / "log.npz", npz);
    EXPECT_EQ(read(folder / "log.npz"), expected);
}

TEST_F(EpisodeFile, RefusesBadLinesWithFileAndLine) {
    const std::string good = "{\"states\": [0, 1, 1], \"actions\": [0, 0, 0]}\n";
    const auto second = [&](const std::string& line) { return refused("log.jsonl", good + line + "\n"); };
    EXPECT_TRUE(says(second("{\"states\": [0, 1"), {"log.jsonl:2: not valid JSON", "column"}));
    EXPECT_TRUE(says(second("\xff\xfe{"), {"log.jsonl:2: not valid JSON"}));
    EXPECT_TRUE(says(second("[0, 1]"), {"log.jsonl:2: is [0,1]; must be an object"}));
    EXPECT_TRUE(says(second("{\"states\": [0]}"), {"log.jsonl:2:", "\"actions\" is missing"}));
    EXPECT_TRUE(says(second("{\"states\": [0], \"actions\": [0], \"counts\": 2}"),
                     {"log.jsonl:2: unknown key \"counts\""}));
    EXPECT_TRUE(says(second("{\"states\": [0, 2], \"actions\": [0, 0]}"),
                     {"log.jsonl:2: \"states\", step 1: is 2; must be an integer from 0 to 1"}));
    EXPECT_TRUE(says(second("{\"states\": [0, -1], \"actions\": [0, 0]}"), {"\"states\", step 1: is -1"}));
    EXPECT_TRUE(says(second("{\"states\": [0, 1.0], \"actions\": [0, 0]}"), {"\"states\", step 1: is 1.0"}));
    EXPECT_TRUE(says(second("{\"states\": [0, \"a\"], \"actions\": [0, 0]}"), {"step 1: is \"a\""}));
    EXPECT_TRUE(says(second("{\"states\": [0, 1], \"actions\": [0, 2]}"),
                     {"log.jsonl:2: \"actions\", step 1: is 2; must be an integer from 0 to 1"}));
    EXPECT_TRUE(says(second("{\"states\": 0, \"actions\": [0]}"), {"\"states\": is 0; must be a list"}));
    EXPECT_TRUE(says(second("{\"states\": [], \"actions\": []}"), {"log.jsonl:2: an episode of 0 states"}));
    EXPECT_TRUE(says(second("{\"states\": [0, 1, 1, 1], \"actions\": [0, 0, 0, 0]}"),
                     {"log.jsonl:2: an episode of 4 states; must have 1 to 3"}));
    EXPECT_TRUE(says(second("{\"states\": [0, 1, 1], \"actions\": [0]}"), {"3 states and 1 actions"}));
    for (const char* count : {"0", "-1", "1.5", "\"2\"", "1e30", "99999999999999999999"})
        EXPECT_TRUE(says(second(fmt::format("{{\"states\": [0], \"actions\": [], \"count\": {}}}", count)),
                         {"log.jsonl:2: \"count\""}))
            << count;
    // 2^53 episodes are the most.
    EXPECT_TRUE(says(second("{\"states\": [0], \"actions\": [], \"count\": 9007199254740992}"),
                     {"log.jsonl:2: more than"}));
}

TEST_F(EpisodeFile, RefusesFilesThatAreNone) {
    EXPECT_TRUE(says(refused("log.txt", "0,1\n"), {"log.txt", ".jsonl, .ndjson, .csv or .npz"}));
    EXPECT_TRUE(says(refused("log.jsonl", "\n \n"), {"holds no episodes"}));
    EXPECT_TRUE(says(refusal([&] { read(folder / "none.jsonl"); }), {"none.jsonl: there is no such file"}));
    EXPECT_TRUE(says(refused("log.npz", "not a zip"), {"log.npz"}));
}

TEST_F(EpisodeFile, RefusesBadArraysWithFileAndEpisode) {
    EXPECT_TRUE(says(refused(arrays({2, 3}, {0, 1, 1, 0, 1, 2}, {0, 0, 0, 0, 0, 0})),
                     {"log.npz: episode 1: state 2 at step 2; must be 0 to 1"}));
    EXPECT_TRUE(says(refused(arrays({1, 3}, {0, 1, 1}, {0, -2, 0})), {"episode 0: action -2 at step 1"}));
    EXPECT_TRUE(
        says(refused(arrays({1, 3}, {0, -1, 1}, {0, 0, 0})), {"episode 0: 'states' has 1 at step 2"}));
    EXPECT_TRUE(says(refused(arrays({1, 3}, {0, 1, 1}, {0, -1, -1})), {"3 states and 1 actions"}));
    EXPECT_TRUE(says(refused(arrays({1, 4}, {0, 1, 1, 1}, {0, 0, 0, 0})), {"an episode of 4 states"}));
    EXPECT_TRUE(says(refused(arrays({3}, {0, 1, 1}, {0, 0, 0})), {"'states'", "(episodes, steps)"}));
    EXPECT_TRUE(says(refused(arrays({0, 3}, {}, {})), {"holds no episodes"}));
    detail::NpzArrays npz = arrays({1, 3}, {0, 1, 1}, {0, 0, 0});
    npz.insert_or_assign("actions", detail::NpyArray::of_integers({3, 1}, {0, 0, 0}));
    EXPECT_TRUE(says(refused(npz), {"(1, 3)", "(3, 1)"}));
    npz.insert_or_assign("actions", detail::NpyArray::of_reals({1, 3}, {0, 0, 0}));
    EXPECT_TRUE(says(refused(npz), {"'actions'", "'<f8'", "integers"}));
    npz.erase("actions");
    EXPECT_TRUE(says(refused(npz), {"array 'actions' is missing"}));
    npz = arrays({1, 3}, {0, 1, 1}, {0, 0, 0});
    npz.emplace("count", detail::NpyArray::of_integers({2}, {1, 1}));
    EXPECT_TRUE(says(refused(npz), {"'count' has 2 elements; must be 1"}));
    npz.insert_or_assign("count", detail::NpyArray::of_integers({1}, {0}));
    EXPECT_TRUE(says(refused(npz), {"episode 0", "0 times"}));
    npz.erase("count");
    npz.emplace("counts", detail::NpyArray::of_integers({1}, {2}));
    EXPECT_TRUE(says(refused(npz), {"unknown array 'counts'"}));
}

// Whatever is done to a file, it is read or refused.
TEST_F(EpisodeFile, DamageIsReadOrRefused) {
    const std::string lines =
        "{\"states\": [0, 1, 1], \"actions\": [0, 0, 1], \"count\": 4}\n{\"states\": [1], \"actions\": []}\n";
    const std::string npz = detail::format_npz(arrays({2, 3}, {0, 1, 1, 1, -1, -1}, {0, 0, 1, 0, -1, -1}),
                                               detail::NpzCompression::stored);
    int refusals = 0;
    for (std::uint64_t trial = 0; trial < 3000; ++trial) {
        Stream random = Stream(trial, Purpose::test, 74);
        std::string bytes = trial % 2 == 0 ? lines : npz;
        const auto size = static_cast<Index>(bytes.size());
        for (Index change = 0; change <= sample_index(random, 3); ++change)
            bytes[static_cast<std::size_t>(sample_index(random, size))] =
                static_cast<char>(sample_index(random, 256));
        if (trial % 5 == 0) bytes.resize(static_cast<std::size_t>(sample_index(random, size)));
        const auto path = folder.write(trial % 2 == 0 ? "log.jsonl" : "log.npz", bytes);
        try {
            const Counts counts = read(path);
            EXPECT_GE(counts.episodes(), 1);
        } catch (const InvalidArgument&) {
            ++refusals;
        } catch (const ModelContradiction&) {
            ++refusals;
        }
    }
    EXPECT_GT(refusals, 1500);
}

TEST_F(EpisodeFile, RefusesAFirstStateThatTheStartLawExcludes) {
    const auto path = folder.write("log.jsonl", "{\"states\": [1, 1], \"actions\": [0, 0]}\n");
    Counts counts = fresh();
    EXPECT_EQ(read_episodes(path, problem.start(), counts), 1);
    const std::string why = refusal([&] { read_episodes(path, StartLaw(0), counts); });
    EXPECT_TRUE(says(why, {"log.jsonl:1:", "starts in state 1"}));
    EXPECT_NO_THROW(read_episodes(path, StartLaw(1), counts));
}

TEST_F(EpisodeFile, NamesATransitionThatNoBaseModelCanMake) {
    const auto path = folder.write("log.jsonl",
                                   "{\"states\": [0, 1], \"actions\": [0, 0]}\n"
                                   "{\"states\": [0, 1, 0], \"actions\": [0, 0, 1]}\n");
    Counts counts = fresh();
    try {
        read_episodes(path, problem.start(), counts);
        FAIL();
    } catch (const ModelContradiction& error) {
        EXPECT_TRUE(says(error.what(), {"log.jsonl:2: step 1: state 1, action 0 led to state 0"}));
    }
    EXPECT_EQ(counts.episodes(), 1);
}

}  // namespace
}  // namespace alidade::testing
