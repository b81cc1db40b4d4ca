#include <csignal>
#include <thread>

#include "alidade/io/run_store.hpp"
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
    const RunStore one = RunStore::open(path("run")), other = RunStore::open(path("straight"));
    EXPECT_TRUE(one.checkpoint()->counts == other.checkpoint()->counts);
    EXPECT_TRUE(one.checkpoint()->memory == other.checkpoint()->memory);
}

TEST_F(Interrupted, TerminationIsAnInterruptionToo) {
    const Outcome stopped = interrupt(endless("run", "1e12"), SIGTERM);
    EXPECT_EQ(stopped.code, 130) << stopped.err;
}

}  // namespace
}  // namespace alidade::testing
