#include "alidade/process/command_system.hpp"

#include <signal.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "process/plants.hpp"

namespace alidade::testing::command_system_test {
namespace {

std::string refused(const CommandSystemOptions& options, const Task& task = plant_task()) {
    try {
        CommandSystem(task, options);
    } catch (const SystemFailed& error) {
        return error.what();
    }
    ADD_FAILURE() << "it was taken: " << options.command;
    return {};
}

Policy mixed_policy() {
    Stream random = support::test_stream(5);
    return support::random_stochastic_policy(random, plant_shape);
}

TEST(CommandSystem, ReportsWhatTheSeedsSayForAnyNumberOfWorkers) {
    for (const Policy& policy : {always_right(), mixed_policy()}) {
        const auto truth = true_episodes(policy, 0, 60);
        for (const char* words : {"", "batches=1", "shuffle=3", "shuffle=3 batches=1"})
            for (const Index workers : {1, 3, 8}) {
                CommandSystem system(plant_task(), plant_options(words, workers));
                Reported reported = report_of(system, policy, 0, 25);
                EXPECT_EQ(reported.returned, 25) << reported.failure;
                const Reported rest = report_of(system, policy, 25, 35);
                reported.episodes.insert(reported.episodes.end(), rest.episodes.begin(), rest.episodes.end());
                EXPECT_EQ(reported.episodes, truth) << words << " " << workers;
                EXPECT_EQ(system.restarts(), 0);
            }
    }
}

TEST(CommandSystem, DeployedItCountsAsTheSameEpisodesDo) {
    const Policy policy = mixed_policy();
    CommandSystem system(plant_task(), plant_options("", 2));
    SystemDeployer deployer(system);
    const Task task = plant_task();
    Counts counts(task.successors(), task.horizon), truth = counts;
    deployer.deploy(policy, 0, 40, counts);
    for (const SystemEpisode& episode : true_episodes(policy, 0, 40))
        truth.add(episode.states, episode.actions);
    EXPECT_EQ(counts, truth);
    EXPECT_EQ(deployer.broken_off(), 0);
}

/// The plant slips with probability 0.35, which is the mixture of 0.1 and 0.8 with weights 9/14 and 5/14.
TEST(CommandSystem, CountsHaveTheLawOfASimulation) {
    const Task task = plant_task();
    Matrix weights(1, 2);
    weights << 9.0 / 14, 5.0 / 14;
    const MixtureModel truth(task.features, task.horizon, task.start, weights);
    Counts child(task.successors(), task.horizon), simulated = child;
    CommandSystem system(task, plant_options("batches=1", 2));
    SystemDeployer(system).deploy(always_right(), 0, 20'000, child);
    CountSplittingDeployer(truth, 1).deploy(always_right(), 0, 20'000, simulated);
    // At each step every episode falls into one entry, so that two samples of one law give a chi-square
    // statistic with as many degrees of freedom as entries are in use, less one: 1, 3 and 5 here. Beyond 40
    // each is with probability below 2e-7.
    for (Step h = 0; h < task.horizon - 1; ++h) {
        double statistic = 0;
        for (Index e = 0; e < task.successors()->entries(); ++e) {
            const auto one = static_cast<double>(child.count(h, e)),
                       other = static_cast<double>(simulated.count(h, e));
            if (one + other > 0) statistic += (one - other) * (one - other) / (one + other);
        }
        EXPECT_LT(statistic, 40) << h;
    }
}

TEST(CommandSystem, SaysWhatItIs) {
    CommandSystem plain(plant_task(), plant_options("seeded=0 batches=1"));
    EXPECT_EQ(plain.shape(), plant_shape);
    EXPECT_FALSE(plain.seeded());
    EXPECT_FALSE(plain.batches()) << "what dies with a batch could not be had again";
    CommandSystem seeded(plant_task(), plant_options("batches=1"));
    EXPECT_TRUE(seeded.seeded());
    EXPECT_TRUE(seeded.batches());
}

TEST(CommandSystem, AnotherSystemIsRefused) {
    EXPECT_TRUE(says(refused(plant_options("states=6")), {"6 states", "5 and 2", "worker 0"}));
    EXPECT_TRUE(says(refused(plant_options("horizon=9")), {"9 steps", "the problem 4"}));
    EXPECT_TRUE(says(refused(plant_options("protocol=2")), {"protocol 2", "speaks 1"}));
    CommandSystemOptions named = plant_options("first_name=left");
    named.action_names = {"right", "b"};
    EXPECT_TRUE(says(refused(named), {"action 0", "'left'", "'right'"}));
    named.action_names = {"left", "b"};
    CommandSystem taken(plant_task(), named);
    CommandSystem any_horizon(plant_task(false, 7), plant_options("horizon=0"));
    EXPECT_EQ(any_horizon.shape().horizon, 7);
}

TEST(CommandSystem, CommandsThatAreNoSystemAreRefusedWithTheirLastWords) {
    CommandSystemOptions options = plant_options();
    options.command = "/nowhere/plant --serve";
    EXPECT_TRUE(says(refused(options), {"exit status 127", "/nowhere/plant", "not found"}));
    options.command = "echo hello";
    EXPECT_TRUE(says(refused(options), {"no JSON", "'hello'", "stderr"}));
    options.command = "echo the licence is over >&2; exit 3";
    EXPECT_TRUE(says(refused(options), {"exit status 3", "the licence is over"}));
    options.command = "sleep 100";
    options.timeout = 0.2;
    EXPECT_TRUE(says(refused(options), {"did not answer within 0.2 s"}));
    options.command = "echo '{\"error\": \"no plant today\"}'; cat";
    EXPECT_TRUE(says(refused(options), {"no plant today"}));
}

TEST(CommandSystem, OptionsOutOfRangeAreRefused) {
    const auto refusal_of = [](CommandSystemOptions options) {
        return refusal([&] { CommandSystem(plant_task(), options); });
    };
    CommandSystemOptions options = plant_options();
    options.workers = 0;
    EXPECT_TRUE(says(refusal_of(options), {"workers is 0", "1 to 1024"}));
    options.workers = 1;
    options.timeout = 0;
    EXPECT_TRUE(says(refusal_of(options), {"timeout is 0"}));
    options.timeout = 1;
    options.command = " ";
    EXPECT_TRUE(says(refusal_of(options), {"empty"}));
    CommandSystem system(plant_task(), plant_options());
    EXPECT_TRUE(says(refusal([&] {
                         report_of(system, always_right({5, 2, 3}), 0, 1);
                     }),
                     {"policy", "horizon 3"}));
    EXPECT_TRUE(says(refusal([&] { report_of(system, always_right(), -1, 1); }), {"-1"}));
}

/// The plant stops in the end of the chain; the rest of the episode is filled, and equals what a model with
/// that state absorbing would do.
TEST(CommandSystem, TerminatedStaysAndTruncatedEnds) {
    const std::string fault = "seeded=0 episode=1 step=1 do=";
    {
        CommandSystem system(plant_task(), plant_options(fault + "truncated"));
        const Reported reported = report_of(system, always_right(), 0, 3);
        ASSERT_EQ(reported.episodes.size(), 3U) << reported.failure;
        EXPECT_TRUE(reported.episodes[0].complete);
        EXPECT_FALSE(reported.episodes[1].complete);
        EXPECT_EQ(reported.episodes[1].states.size(), 3U);
        EXPECT_EQ(reported.episodes[1].actions.size(), 2U);
        EXPECT_TRUE(reported.episodes[2].complete);
    }
    {
        CommandSystem system(plant_task(true), plant_options(fault + "terminated"));
        const Reported reported = report_of(system, always_right(), 0, 3);
        EXPECT_TRUE(says(reported.failure,
                         {"terminated in state", "do not stay there", "truncated", "episode 1, step 1"}));
        ASSERT_EQ(reported.episodes.size(), 2U) << "what was seen before counts";
        EXPECT_EQ(reported.episodes[1].states.size(), 3U);
        EXPECT_FALSE(reported.episodes[1].complete);
    }
    // An episode that gets to state 4 needs five steps at least: four times right.
    const Task task = plant_task(true, 8);
    const Policy policy = always_right(task.shape());
    std::int64_t arriving = 0;
    for (const auto truth = true_episodes(policy, 0, 1000); truth[at(arriving)].states[4] != 4;) ++arriving;
    CommandSystem system(
        task, plant_options(fmt::format("horizon=8 seeded=0 episode={} step=3 do=terminated", arriving)));
    const Reported reported = report_of(system, policy, arriving, 1);
    ASSERT_EQ(reported.episodes.size(), 1U) << reported.failure;
    EXPECT_TRUE(reported.episodes[0].complete);
    EXPECT_EQ(reported.episodes[0].states, (std::vector<State>{0, 1, 2, 3, 4, 4, 4, 4}));
    EXPECT_EQ(reported.episodes[0].actions, std::vector<Action>(8, 1));
}

TEST(CommandSystem, StopsBetweenEpisodesAndGoesOn) {
    for (const Index workers : {1, 3}) {
        CommandSystem system(plant_task(), plant_options("shuffle=2", workers));
        const auto truth = true_episodes(always_right(), 0, 400);
        std::int64_t asked = 0;
        Reported reported = report_of(system, always_right(), 0, 400, [&] { return ++asked > 60; });
        EXPECT_EQ(reported.returned, std::ssize(reported.episodes));
        EXPECT_LT(reported.returned, 400);
        const Reported rest = report_of(system, always_right(), reported.returned, 400 - reported.returned);
        reported.episodes.insert(reported.episodes.end(), rest.episodes.begin(), rest.episodes.end());
        EXPECT_EQ(reported.episodes, truth);
    }
}

/// Processes of the plant that still live.
int alive(const std::filesystem::path& pids) {
    std::ifstream file(pids);
    int count = 0;
    for (pid_t pid = 0; file >> pid;) count += kill(pid, 0) == 0 ? 1 : 0;
    return count;
}

TEST(CommandSystem, LeavesNoProcessBehind) {
    const TemporaryFolder folder;
    const std::string words = "pids=" + (folder / "pids").string();
    {
        CommandSystem system(plant_task(), plant_options(words + " shuffle=20", 4));
        EXPECT_EQ(report_of(system, always_right(), 0, 40).returned, 40);
        EXPECT_GE(alive(folder / "pids"), 2);
    }
    EXPECT_EQ(alive(folder / "pids"), 0);
    {
        CommandSystem system(plant_task(), plant_options(words + " episode=9 step=2 do=hang", 2));
        const auto begin = std::chrono::steady_clock::now();
        EXPECT_THROW(system.run(always_right(), 0, 40, [](auto) { throw std::bad_alloc(); }, {}),
                     std::bad_alloc);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    }
    EXPECT_EQ(alive(folder / "pids"), 0);
}

TEST(CommandSystem, StderrGoesToTheLogByWorker) {
    const TemporaryFolder folder;
    CommandSystemOptions options = plant_options("'talk=warming up'", 2);
    options.log = folder / "system.log";
    {
        CommandSystem system(plant_task(), options);
        report_of(system, always_right(), 0, 20);
    }
    EXPECT_TRUE(says(bytes_of(options.log), {"worker 0: warming up\n", "worker 1: warming up\n"}));
    options.log = folder / "no/such/folder/log";
    EXPECT_TRUE(says(refusal([&] { CommandSystem(plant_task(), options); }), {"cannot be written"}));
}

TEST(CommandSystem, IsStartedInItsFolder) {
    const TemporaryFolder folder;
    CommandSystemOptions options = plant_options("pids=here");
    options.folder = folder.path();
    CommandSystem system(plant_task(), options);
    EXPECT_TRUE(std::filesystem::exists(folder / "here"));
}

TEST(CommandSystem, ASeedThatIsIgnoredIsFound) {
    // Two episodes of 40 steps with different seeds are the same with probability below 1e-5.
    const Task task = plant_task(false, 40);
    for (const char* words : {"lies=1 horizon=40", "lies=1 batches=1 horizon=40"}) {
        CommandSystem system(task, plant_options(words));
        const Reported reported = report_of(system, always_right(task.shape()), 0, 200);
        EXPECT_TRUE(says(reported.failure, {"seeded", "differently", "\"seeded\": false"}));
        EXPECT_TRUE(reported.episodes.empty());
    }
}

}  // namespace
}  // namespace alidade::testing::command_system_test
