#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/run/run_store.hpp"
#include "interruption.hpp"
#include "tool.hpp"

namespace alidade::testing {
namespace {

class Interrupted : public Tool {
protected:
    /// A run that replans so often that it will not end by itself.
    Words endless(const std::string& name, const std::string& episodes) const {
        return {"explore", small_problem, "-o",     name,        "--replan", "growth=0.0001",
                "--json",  "--episodes",  episodes, "--threads", "1"};
    }

    Outcome interrupt(const Words& words, int signal) const {
        const pid_t child = start(words);
        while (!std::filesystem::exists(path("run/run.sqlite")))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        std::this_thread::sleep_for(std::chrono::milliseconds(400));
        kill(child, signal);
        return wait_for(child);
    }
};

TEST_F(Interrupted, NothingIsLostAndTheResumedRunEqualsAnUninterruptedOne) {
    const Outcome stopped = interrupt(endless("run", "1e12"), SIGINT);
    ASSERT_EQ(stopped.code, 130) << stopped.err;
    EXPECT_EQ(stopped.object()["stopped"], "interrupted");
    const std::int64_t episodes = stopped.object()["episodes"];
    EXPECT_GT(episodes, 0);
    EXPECT_EQ(run({"certify", "run"}).code, 0);

    const std::string budget = std::to_string(episodes + 300);
    const Outcome resumed = run(endless("run", budget)), straight = run(endless("straight", budget));
    EXPECT_EQ(resumed.code, 0);
    EXPECT_EQ(comparable(resumed.object()), comparable(straight.object()));
    const detail::RunStore one = detail::RunStore::open(path("run")),
                           other = detail::RunStore::open(path("straight"));
    EXPECT_TRUE(one.checkpoint()->counts == other.checkpoint()->counts);
    EXPECT_TRUE(one.checkpoint()->memory == other.checkpoint()->memory);
}

// Noticed by whoever comes first: the page that is gone, or the check before something is stored.
TEST_F(Interrupted, AMappedFileThatIsCutShortEndsTheRunWithAMessage) {
    ASSERT_EQ(run({"problem", "make", small_problem, "-o", "house", "--mapped"}).code, 0);
    Words words = endless("run", "1e12");
    words[1] = "house";
    const pid_t child = start(words);
    while (!std::filesystem::exists(path("run/run.sqlite")))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    std::filesystem::resize_file(path("house/features/values.npy"), 0);
    const Outcome ended = wait_for(child);
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_TRUE(ended.err.find("was cut short") != std::string::npos ||
                ended.err.find("was written to") != std::string::npos)
        << ended.err;
    // What was stored is intact: the run opens.
    EXPECT_NO_THROW(detail::RunStore::open(path("run")));
}

TEST_F(Interrupted, TerminationAndHangingUpAreInterruptionsToo) {
    for (const int signal : {SIGTERM, SIGHUP}) {
        std::filesystem::remove_all(path("run"));
        const Outcome stopped = interrupt(endless("run", "1e12"), signal);
        EXPECT_EQ(stopped.code, 130) << signal << stopped.err;
        EXPECT_EQ(stopped.object()["stopped"], "interrupted");
        EXPECT_EQ(run({"certify", "run"}).code, 0);
    }
}

/// A model so large that a policy takes a good part of a second and a certificate several.
constexpr const char* large_problem =
    "builtin:garnet?states=400&actions=4&features=8&horizon=8&successors=20";

/// What an explorer of the large problem remembers after so many episodes that nobody interrupted: when it
/// was told of the last, and when it has planned for the next.
std::array<Snapshot, 2> uninterrupted(std::int64_t episodes) {
    const Problem problem = make_builtin(large_problem);
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding"});
    CountSplittingDeployer system(problem.true_model(), 0);
    while (explorer.episodes() < episodes) {
        const Deployment next = explorer.ask();
        Counts counts(problem.shared_features(), problem.shape().horizon);
        system.deploy(*next.policy, explorer.episodes(), next.episodes, counts);
        explorer.tell(counts);
    }
    Snapshot told = explorer.memory();
    explorer.ask();
    return {std::move(told), explorer.memory()};
}

/// Whether a stored memory, which is that of the loop too, has all that an explorer remembers.
bool has(const Snapshot& stored, const Snapshot& part) {
    const auto all_in = [](const auto& small, const auto& large) {
        return std::ranges::all_of(small, [&](const auto& item) {
            const auto found = large.find(item.first);
            return found != large.end() && found->second == item.second;
        });
    };
    return all_in(part.numbers, stored.numbers) && all_in(part.integers, stored.integers) &&
           all_in(part.bytes, stored.bytes);
}

// Planning and certifying are not waited for: all episodes are stored before they begin. What is stored is
// what a run has that was never interrupted.
TEST_F(Interrupted, ActsAtOnceHoweverLongACertificateTakes) {
    const pid_t child = start({"explore", large_problem, "-o", "run", "--algorithm", "hoeffding", "--json",
                               "--episodes", "1e12", "--threads", "1"});
    const auto stored = [&] {
        if (!std::filesystem::exists(path("run/run.sqlite"))) return false;
        const auto checkpoint = detail::RunStore::open(path("run"), Access::read).checkpoint();
        return checkpoint && checkpoint->counts.episodes() >= 2;
    };
    while (!stored()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = std::chrono::steady_clock::now();
    kill(child, SIGTERM);
    const Outcome stopped = wait_for(child);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(stopped.code, 130) << stopped.err;
    EXPECT_LT(taken.count(), 2.0);
    EXPECT_EQ(stopped.object()["stopped"], "interrupted");
    const std::int64_t episodes = stopped.object()["episodes"];
    EXPECT_GE(episodes, 2);
    const auto checkpoint = detail::RunStore::open(path("run"), Access::read).checkpoint();
    ASSERT_TRUE(checkpoint);
    EXPECT_EQ(checkpoint->counts.episodes(), episodes);
    const auto expected = uninterrupted(episodes);
    EXPECT_TRUE(has(checkpoint->memory, expected[0]) || has(checkpoint->memory, expected[1]));
}

// A limit on the size of files used to kill, without a word; now it is a write that fails.
TEST_F(Interrupted, AFileThatMayNotGrowIsAnErrorAndNoDeath) {
    ASSERT_EQ(explore("run").code, 0);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit small{4096, 4096};
        setrlimit(RLIMIT_FSIZE, &small);
        const pid_t tool = start({"reward", "make", "builtin:garnet?states=500", "dense", "-o", "big.json"});
        const Outcome refused = wait_for(tool);
        _exit(refused.code);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_NE(text_of(path("err.txt")).find("error: "), std::string::npos) << text_of(path("err.txt"));
    EXPECT_EQ(run({"certify", "run"}).code, 0);
}

/// A process that is interrupted while something is not stored yet, which it will be after 1.5 seconds.
Outcome interrupted_before_storing(bool repeatable) {
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
        const app::Interruption interruption;
        app::PromptStop stop(interruption, [] {});
        stop.not_all_is_stored();
        if (repeatable) stop.all_can_be_repeated();
        raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(1500));
        stop.all_is_stored();
        std::this_thread::sleep_for(std::chrono::seconds(30));
        _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return {WEXITSTATUS(status), std::to_string(taken.count()), {}};
}

// Storing a model of a million states takes a second: simulated episodes are not worth waiting for.
TEST(PromptStop, WaitsForWhatCannotBeHadAgainAndNotForWhatCan) {
    const Outcome lost = interrupted_before_storing(false), repeated = interrupted_before_storing(true);
    EXPECT_EQ(lost.code, 130);
    EXPECT_GE(std::stod(lost.out), 1.5);
    EXPECT_EQ(repeated.code, 130);
    EXPECT_GE(std::stod(repeated.out), 0.85);
    // It would be 1.5 at least if it waited.
    EXPECT_LT(std::stod(repeated.out), 1.5);
}

// A process that gets no processor for a while has waited as well: patience is by the clock.
TEST(PromptStop, HasNoPatienceLeftAfterAWhileWithoutAProcessor) {
    int stopped[2];
    ASSERT_EQ(pipe(stopped), 0);
    const pid_t child = fork();
    if (child == 0) {
        const app::Interruption interruption;
        app::PromptStop stop(interruption, [] {});
        raise(SIGINT);
        static_cast<void>(!write(stopped[1], "x", 1));
        raise(SIGSTOP);
        std::this_thread::sleep_for(std::chrono::seconds(30));
        _exit(1);
    }
    char seen = 0;
    ASSERT_EQ(read(stopped[0], &seen, 1), 1);
    close(stopped[0]);
    close(stopped[1]);
    std::this_thread::sleep_for(2 * app::PromptStop::patience);
    const auto begin = std::chrono::steady_clock::now();
    kill(child, SIGCONT);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 130);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, app::PromptStop::patience * 3 / 4);
}

}  // namespace
}  // namespace alidade::testing
