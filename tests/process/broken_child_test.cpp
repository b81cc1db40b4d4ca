#include <chrono>
#include <fstream>
#include <map>
#include <set>

#include "alidade/explore/exploration.hpp"
#include "process/plants.hpp"
#include "support/effort.hpp"

/// Children that die, hang or talk nonsense, at every line of what is said.
namespace alidade::testing::broken_child_test {
namespace {

constexpr std::int64_t episodes = 3;
/// Requests of a process that runs them all: info, and for each of them and the one that is run twice a reset
/// and H steps.
const int requests = 1 + (static_cast<int>(episodes) + 1) * (1 + static_cast<int>(plant_shape.horizon));

/// What an episode looks like to those who saw it up to the answer to a request: n states, and the action
/// after each but, perhaps, the last.
void expect_beginning(const SystemEpisode& seen, const SystemEpisode& truth) {
    ASSERT_FALSE(seen.states.empty());
    ASSERT_LE(seen.states.size(), truth.states.size());
    EXPECT_TRUE(std::equal(seen.states.begin(), seen.states.end(), truth.states.begin()));
    EXPECT_TRUE(std::equal(seen.actions.begin(), seen.actions.end(), truth.actions.begin()));
    EXPECT_TRUE(seen.actions.size() == seen.states.size() || seen.actions.size() + 1 == seen.states.size());
}

TEST(BrokenChild, KilledOnceAtAnyRequestItReportsTheSameIfItIsSeeded) {
    const auto truth = true_episodes(always_right(), 0, episodes);
    const int stride = support::effort_is("sanitized") ? 5 : 1;
    for (const char* fault : {"kill", "half", "after"})
        for (int request = 2; request <= requests; request += stride) {
            const TemporaryFolder folder;
            CommandSystem system(plant_task(), plant_options(fmt::format("at={} do={} once={}", request,
                                                                         fault, (folder / "done").string())));
            const Reported reported = report_of(system, always_right(), 0, episodes);
            EXPECT_EQ(reported.failure, "") << fault << " " << request;
            EXPECT_EQ(reported.episodes, truth) << fault << " " << request;
            // What follows the last action of all is not needed.
            const bool needed = request + (std::string(fault) == "after" ? 1 : 0) < requests;
            EXPECT_EQ(system.restarts(), needed ? 1 : 0) << fault << " " << request;
        }
}

TEST(BrokenChild, KilledOnceInABatchItReportsTheSame) {
    const auto truth = true_episodes(always_right(), 0, 50);
    for (const char* fault : {"kill", "half", "hang"})
        for (const int request : {2, 8, 9}) {  // 3 to 7 are the first episode once more
            const TemporaryFolder folder;
            CommandSystemOptions options = plant_options(
                fmt::format("batches=1 at={} do={} once={}", request, fault, (folder / "done").string()));
            if (std::string(fault) == "hang") options.timeout = 1;
            CommandSystem system(plant_task(), options);
            const Reported reported = report_of(system, always_right(), 0, 50);
            EXPECT_EQ(reported.episodes, truth) << fault << " " << request << reported.failure;
            EXPECT_EQ(system.restarts(), 1) << fault << " " << request;
        }
}

/// Every state that the plant has answered is reported, in the episode that it belongs to, once; however it
/// dies.
TEST(BrokenChild, WithoutSeedsAllThatWasSeenIsReportedOnce) {
    const int without_second = requests - 1 - static_cast<int>(plant_shape.horizon);
    const int stride = support::effort_is("sanitized") ? 5 : 1;
    for (const char* fault : {"kill", "half", "after"})
        for (int request = 2; request <= without_second; request += stride) {
            const TemporaryFolder folder;
            const std::string journal = (folder / "journal").string();
            CommandSystem system(plant_task(),
                                 plant_options(fmt::format("seeded=0 at={} do={} once={} journal={}", request,
                                                           fault, (folder / "done").string(), journal)));
            const Reported reported = report_of(system, always_right(), 0, episodes);
            ASSERT_EQ(reported.failure, "") << fault << " " << request;
            ASSERT_EQ(std::ssize(reported.episodes), episodes);
            std::map<std::int64_t, std::vector<State>> answered;
            std::ifstream lines(journal);
            std::int64_t episode = 0, step = 0;
            for (State state = 0; lines >> episode >> step >> state;)
                // What follows the last action is not recorded. A reset is answered before the kill, or not
                // at all.
                if (step < plant_shape.horizon) answered[episode].push_back(state);
            for (std::int64_t k = 0; k < episodes; ++k) {
                const SystemEpisode& seen = reported.episodes[static_cast<std::size_t>(k)];
                EXPECT_EQ(seen.episode, k);
                EXPECT_EQ(seen.states, answered[k]) << fault << " " << request << " " << k;
                EXPECT_EQ(seen.complete, std::ssize(seen.states) == plant_shape.horizon &&
                                             std::ssize(seen.actions) == plant_shape.horizon);
                expect_beginning(seen, true_episodes(always_right(), k, 1)[0]);
            }
        }
}

TEST(BrokenChild, AnEpisodeThatAlwaysBreaksOffCountsUpToTheLastTransitionSeen) {
    for (const char* words : {"", "batches=1", "seeded=0", "shuffle=2"})
        for (const Index workers : {1, 4}) {
            CommandSystem system(plant_task(),
                                 plant_options(fmt::format("{} episode=5 step=2 do=die", words), workers));
            auto truth = true_episodes(always_right(), 0, 12);
            truth[5].states.resize(3);
            truth[5].actions.resize(3);
            truth[5].complete = false;
            const Reported reported = report_of(system, always_right(), 0, 12);
            EXPECT_EQ(reported.episodes, truth) << words << " " << workers << reported.failure;

            const Task task = plant_task();
            Counts counts(task.successors(), task.horizon), expected = counts;
            SystemDeployer deployer(system);
            deployer.deploy(always_right(), 0, 12, counts);
            for (const SystemEpisode& episode : truth) expected.add(episode.states, episode.actions);
            EXPECT_EQ(counts, expected);
            EXPECT_EQ(counts.episodes(), 12);
            EXPECT_EQ(deployer.broken_off(), 1);
        }
}

TEST(BrokenChild, ASystemThatDeclinesBreaksOffWithoutDying) {
    CommandSystem system(plant_task(), plant_options("episode=1 step=1 do=decline"));
    const Reported reported = report_of(system, always_right(), 0, 3);
    ASSERT_EQ(reported.episodes.size(), 3U) << reported.failure;
    EXPECT_EQ(reported.episodes[1].states.size(), 2U);
    EXPECT_FALSE(reported.episodes[1].complete);
    EXPECT_EQ(system.restarts(), 0);
    CommandSystem never(plant_task(), plant_options("episode=1 step=-1 do=decline"));
    const Reported refused = report_of(never, always_right(), 0, 3);
    EXPECT_TRUE(says(refused.failure, {"the valve is stuck", "nothing was seen"}));
    EXPECT_EQ(refused.episodes, true_episodes(always_right(), 0, 1));
}

TEST(BrokenChild, NonsenseIsAnErrorThatNamesThePlaceAndKeepsWhatWasBefore) {
    const std::map<std::string, std::vector<std::string_view>> faults{
        {"garbage", {"no JSON", "Loading licence", "stderr"}},
        {"list", {"[1]", "object"}},
        {"negative", {"\"state\"", "-1", "0 to 4"}},
        {"large", {"\"state\"", "1000", "0 to 4"}},
        {"fraction", {"\"state\"", "0.5", "integer"}},
        {"stateless", {"\"state\"", "missing"}},
        {"unknown", {"unknown key \"sate\""}},
        {"end", {"\"end\"", "maybe", "terminated"}},
        {"echo", {"77", "\"step\": 2", "answered twice"}},
        {"endless", {"longer than", "one line"}},
    };
    for (const bool seeded : {true, false})
        for (const auto& [fault, words] : faults) {
            CommandSystem system(plant_task(), plant_options(fmt::format("seeded={} episode=4 step=2 do={}",
                                                                         seeded ? 1 : 0, fault)));
            const Reported reported = report_of(system, always_right(), 0, 9);
            std::string said = reported.failure;
            for (const std::string_view word : words)
                EXPECT_NE(said.find(word), std::string::npos) << fault << ": " << said;
            EXPECT_TRUE(says(said, {"worker 0, episode 4, step 2", "test_plant"})) << fault;
            auto truth = true_episodes(always_right(), 0, 5);
            truth[4].states.resize(3);
            truth[4].actions.resize(3);
            truth[4].complete = false;
            // With its seed it comes back; without, it was seen.
            if (seeded) truth.pop_back();
            EXPECT_EQ(reported.episodes, truth) << fault;
        }
}

/// The second answer may come before or after the next request: it is never taken for that one's.
TEST(BrokenChild, ASecondAnswerIsNeverTakenForTheNext) {
    for (int request = 2; request <= requests; ++request) {
        CommandSystem system(plant_task(), plant_options(fmt::format("at={} do=twice", request)));
        const Reported reported = report_of(system, always_right(), 0, episodes);
        const auto truth = true_episodes(always_right(), 0, episodes);
        ASSERT_LE(reported.episodes.size(), truth.size());
        EXPECT_TRUE(std::equal(reported.episodes.begin(), reported.episodes.end(), truth.begin())) << request;
        // After the very last one nobody listens any more.
        if (request < requests) {
            EXPECT_NE(reported.failure, "") << request;
        }
    }
}

TEST(BrokenChild, WrongBatchesAreErrors) {
    const std::map<std::string, std::string> faults{
        {"counts", "every episode is kept"}, {"fewer", "0 episodes"}, {"garbage", "no JSON"}};
    for (const auto& [fault, words] : faults) {
        CommandSystem system(plant_task(), plant_options(fmt::format("batches=1 at=8 do={}", fault)));
        const Reported reported = report_of(system, always_right(), 0, 30);
        EXPECT_TRUE(says(reported.failure, {words, "worker 0, episodes 1 to"})) << fault;
        EXPECT_EQ(reported.episodes, true_episodes(always_right(), 0, 1));
    }
}

TEST(BrokenChild, HangingIsEndedByTheTimeLimit) {
    for (const char* fault : {"hang", "close"}) {
        const TemporaryFolder folder;
        CommandSystemOptions options =
            plant_options(fmt::format("episode=1 step=1 do={} once={}", fault, (folder / "done").string()));
        options.timeout = 1;
        CommandSystem system(plant_task(), options);
        const auto begin = std::chrono::steady_clock::now();
        const Reported reported = report_of(system, always_right(), 0, episodes);
        EXPECT_EQ(reported.episodes, true_episodes(always_right(), 0, episodes)) << fault << reported.failure;
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    }
}

TEST(BrokenChild, OneThatAlwaysFailsIsGivenUp) {
    CommandSystem system(plant_task(), plant_options("seeded=0 at=4 do=die 'talk=out of paper'"));
    const Reported reported = report_of(system, always_right(), 0, 100);
    EXPECT_TRUE(says(reported.failure, {"exit status 3", "times in a row", "out of paper"}));
    EXPECT_EQ(reported.episodes.size(), 6U) << "each failure has shown two states";
    for (const SystemEpisode& episode : reported.episodes) {
        EXPECT_FALSE(episode.complete);
        EXPECT_EQ(episode.states.size(), 2U);
    }
}

/// What others have finished while one could not even begin is not lost: without seeds it cannot be had
/// again.
TEST(BrokenChild, WithoutSeedsNothingIsLostBehindAGap) {
    const TemporaryFolder folder;
    const std::string journal = (folder / "journal").string();
    CommandSystem system(plant_task(),
                         plant_options("seeded=0 shuffle=1 episode=60 step=-1 do=die journal=" + journal, 4));
    Reported reported = report_of(system, always_right(), 0, 40);  // all four are at work
    const Reported rest = report_of(system, always_right(), 40, 1000);
    reported.failure = rest.failure;
    reported.episodes.insert(reported.episodes.end(), rest.episodes.begin(), rest.episodes.end());
    EXPECT_TRUE(says(reported.failure, {"episode 60", "nothing was seen of the episode in 3 attempts"}));
    std::set<std::int64_t> begun;
    std::ifstream lines(journal);
    std::int64_t episode = 0, step = 0;
    for (State state = 0; lines >> episode >> step >> state;) begun.insert(episode);
    // An answer may be on its way when we leave, so that its episode was not seen.
    EXPECT_GE(reported.episodes.size() + 4, begun.size());
    for (std::size_t i = 0; i < reported.episodes.size(); ++i)
        EXPECT_EQ(reported.episodes[i].episode, static_cast<std::int64_t>(i));
}

TEST(BrokenChild, AnExplorationCountsWhatItWasToldBeforeTheSystemFailed) {
    CommandSystem system(plant_task(), plant_options("episode=20 step=2 do=garbage"));
    SystemDeployer deployer(system);
    Exploration exploration(plant_task(), {.algorithm = "likelihood", .delta = 0.1});
    EXPECT_THROW(exploration.run(deployer, {.episodes = 1000}), SystemFailed);
    EXPECT_EQ(exploration.counts().episodes(), 20);
    EXPECT_EQ(exploration.explorer().episodes(), 20);
}

}  // namespace
}  // namespace alidade::testing::broken_child_test
