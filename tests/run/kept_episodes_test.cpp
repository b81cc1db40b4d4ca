#include <gtest/gtest.h>
#include <sqlite3.h>

#include "alidade/error.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/run/episode_export.hpp"
#include "alidade/run/episode_record.hpp"
#include "asking_bench.hpp"

namespace alidade::testing::asking {
namespace {

LoggedEpisode random_episode(Stream& random) {
    LoggedEpisode episode;
    const auto length = 1 + random.next() % 9;
    const auto number = [&] { return static_cast<Index>(random.next() >> (1 + random.next() % 63)); };
    for (std::uint64_t h = 0; h < length; ++h) episode.states.push_back(number());
    for (std::uint64_t h = 0; h + (random.next() % 2) < length && h < length; ++h) {
        if (episode.actions.size() + 1 < length || random.next() % 2 == 0)
            episode.actions.push_back(number());
    }
    while (episode.actions.size() + 1 < length) episode.actions.push_back(number());
    episode.times = random.next() % 3 == 0 ? 1 + number() / 2 : 1;
    episode.complete = random.next() % 2 == 0;
    return episode;
}

TEST(EpisodeRecord, ReadsWhatWasWritten) {
    Stream random(1, Purpose::test);
    std::vector<LoggedEpisode> episodes;
    std::string bytes;
    for (int i = 0; i < 2000; ++i) {
        episodes.push_back(random_episode(random));
        detail::append_episode(episodes.back(), bytes);
    }
    detail::EpisodeBytes reader(std::as_bytes(std::span(bytes)));
    LoggedEpisode episode;
    for (const LoggedEpisode& expected : episodes) {
        ASSERT_TRUE(reader.next(episode));
        ASSERT_EQ(episode, expected);
    }
    EXPECT_FALSE(reader.next(episode));
}

TEST(EpisodeRecord, RefusesBytesThatAreNoEpisodes) {
    Stream random(2, Purpose::test);
    LoggedEpisode episode;
    for (int i = 0; i < 20000; ++i) {
        std::string bytes(random.next() % 12, ' ');
        for (char& byte : bytes) byte = static_cast<char>(random.next());
        detail::EpisodeBytes reader(std::as_bytes(std::span(bytes)));
        try {
            while (reader.next(episode)) EXPECT_FALSE(episode.states.empty());
        } catch (const InvalidArgument&) {
        }
    }
}

void damage(const Desk& desk, const char* statement) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((desk.folder / "run" / "run.sqlite").c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, statement, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
}

TEST(Replay, FindsWhatDoesNotFollowFromTheEpisodes) {
    for (const char* statement : {"DELETE FROM episodes WHERE experiment = 3",
                                  "UPDATE episodes SET data = x'1a000000' WHERE experiment = 2"}) {
        Desk desk;
        desk.turn(6);
        EXPECT_TRUE(desk.experiments.replay().differences.empty());
        damage(desk, statement);
        EXPECT_THROW(desk.experiments.replay(), InvalidArgument) << statement;
    }
    // Well-formed rows that say something else.
    for (const char* statement : {"UPDATE parts SET taken = 4 WHERE experiment = 3",
                                  "UPDATE parts SET taken = NULL WHERE experiment = 5",
                                  "UPDATE deployments SET policy = x'' WHERE number = 4"}) {
        Desk desk;
        desk.turn(6);
        desk.status();
        damage(desk, statement);
        EXPECT_FALSE(desk.experiments.replay().differences.empty()) << statement;
    }
}

/// Stops after some episodes, as a process that is killed does.
class Mortal final : public System {
public:
    Mortal(System& system, std::int64_t life, bool seeded) : system_(system), life_(life), seeded_(seeded) {}
    const Shape& shape() const override { return system_.shape(); }
    bool seeded() const override { return seeded_; }
    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                     const std::function<void(std::span<const SystemEpisode>)>& accept,
                     const std::function<bool()>& stop) override {
        return system_.run(
            policy, first, count,
            [&](std::span<const SystemEpisode> episodes) {
                if ((life_ -= std::ssize(episodes)) < 0) throw SystemFailed("it died");
                accept(episodes);
            },
            stop);
    }

private:
    System& system_;
    std::int64_t life_;
    bool seeded_;
};

TEST(RunOfASystem, EqualsOneThatNothingStopped) {
    const Problem problem = make_builtin(garnet);
    for (const bool seeded : {true, false}) {
        const TemporaryFolder folder;
        SimulatedEnvironment environment(problem.true_system());
        StepwiseSystem system(environment, 7);
        alidade::Run straight = alidade::Run::create(folder / "straight", problem, garnet, options());
        Mortal immortal(system, 1'000'000, seeded);
        const ExploredRun whole = straight.explore(immortal, {.episodes = 90});
        for (std::int64_t life = 1;; life += 7) {
            alidade::Run broken = alidade::Run::exists(folder / "broken")
                                      ? alidade::Run::open(folder / "broken")
                                      : alidade::Run::create(folder / "broken", problem, garnet, options());
            Mortal mortal(system, life, seeded);
            try {
                const ExploredRun explored = broken.explore(mortal, {.episodes = 90});
                EXPECT_EQ(explored.result.candidates, whole.result.candidates);
                break;
            } catch (const SystemFailed&) {
                // An episode that was handed over is stored: it is not run again.
                const LedgerStatus status = AskTell(broken).status();
                EXPECT_GE(status.told, life);
            }
        }
        alidade::Run broken = alidade::Run::open(folder / "broken");
        EXPECT_EQ(broken.checkpoint()->counts, straight.checkpoint()->counts);
        EXPECT_EQ(broken.checkpoint()->memory, straight.checkpoint()->memory);
        EXPECT_EQ(broken.result()->evidence, straight.result()->evidence);
        EXPECT_TRUE(AskTell(broken).replay().differences.empty());
        EXPECT_THROW(broken.explore({.episodes = 200}),
                     InvalidArgument);  // counts cannot be kept as episodes
    }
}

TEST(RunOfASystem, CountsWhatWasSeenOfEpisodesThatBrokeOff) {
    Desk desk;
    const Experiment experiment = desk.ask().front();
    auto episodes = desk.truth.run(experiment);
    episodes[0].states.resize(2);
    episodes[0].actions.resize(1);
    episodes[0].complete = false;
    desk.experiments.tell(experiment.id, source(episodes));
    EXPECT_EQ(desk.status().broken_off, 1);
    std::int64_t seen = 0;
    const auto checkpoint = desk.run.checkpoint();
    for (Step h = 0; h + 1 < 4; ++h)
        for (Index pair = 0; pair < 18; ++pair) seen += checkpoint->counts.visits(h, pair);
    EXPECT_EQ(seen, 1);
}

/// Says that a state followed that no base model has there.
class Liar final : public System {
public:
    Liar(System& system, std::int64_t liar) : system_(system), liar_(liar) {}
    const Shape& shape() const override { return system_.shape(); }
    bool seeded() const override { return false; }
    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                     const std::function<void(std::span<const SystemEpisode>)>& accept,
                     const std::function<bool()>& stop) override {
        return system_.run(
            policy, first, count,
            [&](std::span<const SystemEpisode> episodes) {
                for (SystemEpisode episode : episodes) {
                    if (episode.episode == liar_) episode.states[1] = episode.states[1] == 0 ? 5 : 0;
                    if (episode.episode == liar_) episode.states.resize(2);
                    episode.actions.resize(episode.states.size());
                    accept({&episode, 1});
                    ++handed_over;
                }
            },
            stop);
    }
    std::int64_t handed_over = 0;

private:
    System& system_;
    std::int64_t liar_;
};

TEST(RunOfASystem, EndsWhereNoBaseModelExplainsWhatWasSeen) {
    const Problem problem = make_builtin(garnet);
    const TemporaryFolder folder;
    SimulatedEnvironment environment(problem.true_system());
    StepwiseSystem system(environment, 7);
    // One of the two states cannot follow the first pair; which one is found by trying.
    for (const std::int64_t liar : {40, 41, 42, 43}) {
        const auto name = folder / std::to_string(liar);
        alidade::Run run = alidade::Run::create(name, problem, garnet, options());
        Liar lying(system, liar);
        try {
            run.explore(lying, {.episodes = 90});
        } catch (const ModelContradiction&) {
            const auto checkpoint = run.checkpoint();
            ASSERT_TRUE(checkpoint->contradiction);
            EXPECT_EQ(checkpoint->contradiction->kind, ContradictionKind::impossible_transition);
            // What was seen is counted, and the rest of the experiment is not run.
            EXPECT_EQ(AskTell(run).status().told, lying.handed_over);
            EXPECT_EQ(checkpoint->counts.episodes(), lying.handed_over);
            EXPECT_LE(lying.handed_over, liar + 4);
            EXPECT_THROW(run.explore(lying, {.episodes = 90}), ModelContradiction);
            EXPECT_NO_THROW(run.explore(system, {.episodes = 90, .despite_contradiction = true}));
            return;
        }
    }
    FAIL() << "no lie was impossible";
}

// Runs of before there were ledgers: what they know stays, and what comes is added.
TEST(RunOfASystem, GoesOnWithASimulatedRun) {
    const Problem problem = make_builtin(garnet);
    const TemporaryFolder folder;
    {
        alidade::Run simulated = alidade::Run::create(folder / "run", problem, garnet, options());
        simulated.explore({.episodes = 200});
        EXPECT_FALSE(simulated.keeps_episodes());
    }
    const auto before = alidade::Run::open(folder / "run", Access::read).checkpoint();
    alidade::Run run = alidade::Run::open(folder / "run");
    SimulatedEnvironment environment(problem.true_system());
    StepwiseSystem system(environment, 7);
    run.explore(system, {.episodes = 260});
    EXPECT_TRUE(run.keeps_episodes());
    EXPECT_EQ(run.checkpoint()->counts.episodes(), 260);
    EXPECT_EQ(AskTell(run).status().told, 60);
    EXPECT_TRUE(AskTell(run).replay().differences.empty());
    Counts added = before->counts;
    AskTell(run).visit([&](const StoredEpisode& stored) {
        added.add(stored.episode.states, stored.episode.actions, stored.episode.times);
    });
    EXPECT_EQ(added, run.checkpoint()->counts);
}

TEST(LearnedRun, AddsLogsEachOnceAndCanBeExplored) {
    const Problem problem = make_builtin(garnet);
    const TemporaryFolder folder;
    Truth truth(problem);
    const Policy uniform = Policy::uniform(problem.shape());
    const std::vector<EpisodeLog> one{{"monday", source(truth.run(uniform, 0, 50))}};
    const std::vector<EpisodeLog> both{one[0], {"tuesday", source(truth.run(uniform, 50, 30))}};
    alidade::Run::learn(folder / "added", problem, garnet, 0.1, one);
    const LearnedRun added = alidade::Run::learn(folder / "added", problem, garnet, 0.1, both);
    EXPECT_EQ(added.known, std::vector<std::string>{"monday"});
    const LearnedRun at_once = alidade::Run::learn(folder / "at-once", problem, garnet, 0.1, both);
    EXPECT_EQ(added.result.evidence, at_once.result.evidence);
    EXPECT_EQ(added.result.candidates, at_once.result.candidates);
    EXPECT_EQ(added.run.checkpoint()->counts.episodes(), 80);
    AskTell experiments(added.run);
    EXPECT_TRUE(experiments.replay().differences.empty());
    const Asked asked = experiments.ask({.experiments = 100});
    for (const Experiment& experiment : asked.experiments)
        experiments.tell(experiment.id, source(truth.run(experiment)));
    experiments.ask({.experiments = 0});
    EXPECT_EQ(added.run.checkpoint()->counts.episodes(), 88);  // a tenth of 80 more
    EXPECT_TRUE(experiments.replay().differences.empty());
    EXPECT_EQ(added.run.load()->knowledge.episodes, 88);
    EXPECT_THROW(alidade::Run::learn(folder / "added", problem, garnet, 0.1, one), InvalidArgument);
}

TEST(ExportedEpisodes, AreReadBackFromEveryKindOfFile) {
    Desk desk;
    desk.turn(14);
    const auto told = desk.experiments.status().told;
    const Problem& problem = desk.run.problem();
    const Counts kept = desk.run.checkpoint()->counts;
    for (const char* name : {"all.jsonl", "all.csv", "all.npz"}) {
        EXPECT_EQ(export_episodes(desk.experiments, problem.shape(), desk.folder / name), told) << name;
        Counts counts(problem.shared_successors(), problem.shape().horizon);
        EXPECT_EQ(read_episodes(desk.folder / name, problem.start(), counts), told) << name;
        desk.status();
        EXPECT_EQ(counts, desk.run.checkpoint()->counts) << name;
    }
    EXPECT_THROW(export_episodes(desk.experiments, problem.shape(), desk.folder / "all.txt"),
                 InvalidArgument);
}

}  // namespace
}  // namespace alidade::testing::asking
