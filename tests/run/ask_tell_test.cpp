#include "alidade/run/ask_tell.hpp"

#include <gtest/gtest.h>

#include <set>

#include "alidade/error.hpp"
#include "asking_bench.hpp"

namespace alidade::testing::asking {
namespace {

// The loop and the ledger are one: asked and told by hand, an exploration is the one that a loop makes.
TEST(AskTell, EqualsTheLoopThatRunsTheSameEpisodes) {
    for (const char* algorithm : {"likelihood", "hoeffding", "uniform"}) {
        Desk desk(options(algorithm), {.episodes = 60, .seeded = true});
        while (true) {
            const Asked asked = desk.experiments.ask({.experiments = 3, .worker = "w"});
            if (!asked.ended.empty()) break;
            // In another order than they were asked for.
            for (auto experiment = asked.experiments.rbegin(); experiment != asked.experiments.rend();
                 ++experiment)
                desk.tell(*experiment);
        }
        const Problem problem = make_builtin(garnet);
        SimulatedEnvironment environment(problem.true_system());
        StepwiseDeployer system(environment, 0);
        Exploration loop(task_of(problem), explorer_options(options(algorithm), 1));
        EXPECT_EQ(loop.run(system, {.episodes = 60}), Stopped::budget);
        const auto checkpoint = desk.run.checkpoint();
        ASSERT_TRUE(checkpoint) << algorithm;
        EXPECT_EQ(checkpoint->counts, loop.counts()) << algorithm;
        EXPECT_EQ(checkpoint->memory, loop.memory()) << algorithm;
        EXPECT_EQ(desk.run.result()->evidence, loop.best_evidence()) << algorithm;
        EXPECT_TRUE(desk.experiments.replay().differences.empty()) << algorithm;
    }
}

TEST(AskTell, AsksForExperimentsThatAreFixedBeforeAnybodyRunsThem) {
    Desk desk;
    desk.turn(25);
    const auto given = desk.ask(2, 1);
    ASSERT_EQ(given.size(), 2U);
    EXPECT_EQ(given[0].deployment, given[1].deployment);
    EXPECT_EQ(given[0].episodes, 1);
    EXPECT_EQ(given[1].first_episode, given[0].first_episode + 1);
    EXPECT_TRUE(given[0].aim.has_value());
    EXPECT_EQ(desk.experiments.experiment(given[1].id).policy->actions(), given[1].policy->actions());
    EXPECT_THROW(desk.experiments.experiment(10'000), InvalidArgument);
}

TEST(AskTell, CountsAnAnswerOnceHoweverOftenItIsTold) {
    Desk desk;
    desk.turn(3);
    const Experiment experiment = desk.ask().front();
    EXPECT_FALSE(desk.tell(experiment).repeated);
    EXPECT_TRUE(desk.tell(experiment).repeated);
    desk.truth = Truth(desk.run.problem(), 99);
    bool refused = false;
    for (std::uint64_t seed = 1; seed < 9 && !refused; ++seed) {
        desk.truth = Truth(desk.run.problem(), seed);  // some give the same episode
        try {
            desk.tell(experiment);
        } catch (const InvalidArgument&) {
            refused = true;
        }
    }
    EXPECT_TRUE(refused);
    const LedgerStatus status = desk.status();
    EXPECT_EQ(status.told, 4);
    EXPECT_EQ(status.taken, 4);
    EXPECT_EQ(desk.run.checkpoint()->counts.episodes(), 4);
    EXPECT_GE(status.repeated.size(), 2U);
    EXPECT_FALSE(status.repeated.back().same);
}

TEST(AskTell, RefusesMoreThanWasWantedAndKeepsNothingOfIt) {
    Desk desk;
    const Experiment experiment = desk.ask().front();
    auto episodes = desk.truth.run(experiment);
    episodes.push_back(episodes.front());
    EXPECT_THROW(desk.experiments.tell(experiment.id, source(episodes)), InvalidArgument);
    EXPECT_THROW(desk.experiments.tell(77, source(episodes)), InvalidArgument);
    EXPECT_THROW(desk.experiments.tell(experiment.id, source({})), InvalidArgument);
    EXPECT_THROW(desk.experiments.tell(experiment.id, source({{{99}, {0}}})), InvalidArgument);
    EXPECT_EQ(desk.experiments.status().told, 0);
    EXPECT_FALSE(desk.tell(experiment).repeated);
}

TEST(AskTell, EndsADeploymentOnlyWhenEveryChunkIsTold) {
    Desk desk;
    desk.turn(30);
    const auto given = desk.ask(2, 1);
    ASSERT_EQ(given.size(), 2U);
    desk.tell(given[0]);
    const std::int64_t before = desk.experiments.status().taken;
    EXPECT_EQ(desk.status().taken, before);
    const Asked waiting = desk.experiments.ask({.experiments = 4, .worker = "other"});
    for (const Experiment& experiment : waiting.experiments)
        EXPECT_EQ(experiment.deployment, given[0].deployment);
    EXPECT_EQ(waiting.with_others, 1);
    EXPECT_EQ(waiting.next_due, desk.now + 100);
    for (const Experiment& experiment : waiting.experiments) desk.tell(experiment);
    desk.tell(given[1]);
    EXPECT_GT(desk.status().taken, before);
}

TEST(AskTell, TakesAnswersInParts) {
    Desk desk;
    desk.turn(25);
    const Experiment experiment = desk.ask(1, 1000).front();
    ASSERT_GE(experiment.episodes, 2);
    auto episodes = desk.truth.run(experiment);
    const auto first = source({episodes.begin(), episodes.begin() + 1});
    const auto rest = source({episodes.begin() + 1, episodes.end()});
    const std::int64_t before = desk.experiments.status().taken;
    desk.experiments.tell(experiment.id, first, {.part = 0, .whole = false});
    EXPECT_TRUE(desk.experiments.tell(experiment.id, first, {.part = 0, .whole = false}).repeated);
    EXPECT_EQ(desk.status().taken, before);
    EXPECT_EQ(desk.experiments.experiment(experiment.id).told, 1);
    desk.experiments.tell(experiment.id, rest, {.part = 1, .whole = false});
    EXPECT_EQ(desk.status().taken, before + experiment.episodes);
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
}

TEST(AskTell, ClosesWhatFailedAndCountsWhatWasToldOfIt) {
    Desk desk;
    desk.turn(30);
    const auto given = desk.ask(2, 2);
    ASSERT_EQ(given.size(), 2U);
    auto episodes = desk.truth.run(given[0]);
    episodes.pop_back();
    const std::int64_t before = desk.experiments.status().taken;
    desk.experiments.tell(given[0].id, source(episodes), {.failed = "the pump broke"});
    desk.experiments.tell(given[1].id, {}, {.failed = "never begun"});
    const LedgerStatus status = desk.status();
    EXPECT_EQ(status.failed, 2);
    EXPECT_EQ(status.taken, before + 1);
    EXPECT_EQ(status.missing, 3);
    EXPECT_EQ(desk.experiments.log()[at(given[0].id - 1)].reason, "the pump broke");
    // The numbers of episodes that were never run are not given out again.
    EXPECT_GT(desk.ask().front().first_episode, given[1].first_episode + 1);
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
    // Something told is no failure.
    const Experiment next = desk.ask().front();
    desk.tell(next);
    EXPECT_THROW(desk.experiments.tell(next.id, {}, {.failed = "too late"}), InvalidArgument);
}

// Without seeds every attempt is an experiment of its own: dropping the slow one would prefer quick episodes.
TEST(AskTell, CountsEveryAttemptOfASystemWithoutSeeds) {
    Desk desk;
    desk.turn(3);
    const Experiment slow = desk.ask().front();
    EXPECT_TRUE(desk.ask().empty());
    desk.now += 101;
    const Experiment second = desk.ask().front();
    EXPECT_NE(second.id, slow.id);
    EXPECT_EQ(second.attempt, 2);
    EXPECT_NE(second.first_episode, slow.first_episode);
    desk.tell(second);
    const Experiment after = desk.ask().front();
    EXPECT_GT(after.deployment, slow.deployment);
    EXPECT_EQ(desk.experiments.status().missing, 1);
    const Told late = desk.tell(slow);
    EXPECT_FALSE(late.aside);
    EXPECT_EQ(desk.experiments.late_refusal(), "");
    EXPECT_EQ(desk.experiments.status().missing, 0);
    desk.tell(after);
    EXPECT_EQ(desk.status().taken, 6);
    EXPECT_EQ(desk.run.checkpoint()->counts.episodes(), 6);
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
}

TEST(AskTell, GivesASystemWithSeedsTheSameExperimentAgain) {
    Desk desk(options(), {.seeded = true});
    const Experiment slow = desk.ask().front();
    desk.now += 101;
    const Experiment again = desk.ask().front();
    EXPECT_EQ(again.id, slow.id);
    EXPECT_EQ(again.seed, slow.seed);
    EXPECT_FALSE(desk.tell(again).repeated);
    EXPECT_TRUE(desk.tell(slow).repeated);
    EXPECT_EQ(desk.status().taken, 1);
}

// A regression's values are fixed anew with every deployment: what was asked for before must not be counted
// with them.
TEST(AskTell, SetsLateAnswersAsideWhereWhatIsPredictedWasFixedSince) {
    Desk desk(options("hoeffding"));
    desk.turn(3);
    const Experiment slow = desk.ask().front();
    desk.now += 101;
    desk.tell(desk.ask().front());
    EXPECT_EQ(desk.status().taken, 4);
    EXPECT_TRUE(desk.tell(slow).aside);
    EXPECT_NE(desk.experiments.late_refusal(), "");
    desk.turn(1);
    const LedgerStatus status = desk.status();
    EXPECT_EQ(status.aside, 1);
    EXPECT_EQ(status.told, 6);
    EXPECT_EQ(desk.run.checkpoint()->counts.episodes(), 5);
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
}

TEST(AskTell, TakesForeignEpisodesOnlyWhereTheSetsHoldForThem) {
    const Policy uniform = Policy::uniform(make_builtin(garnet).shape());
    for (const char* sets :
         {"regression", "weighted", "regression,likelihood", "likelihood?prequential=true"}) {
        Desk refusing(options("likelihood", sets));
        EXPECT_THROW(refusing.experiments.tell_unasked(source(refusing.truth.run(uniform, 0, 5))),
                     InvalidArgument)
            << sets;
    }
    // Who acts may plan with a regression of which nothing is claimed.
    for (const char* algorithm : {"likelihood", "hoeffding"}) {
        Desk desk(options(algorithm, "likelihood"));
        const Told first = desk.experiments.tell_unasked(source(desk.truth.run(uniform, 1000, 40)));
        EXPECT_FALSE(first.repeated);
        EXPECT_TRUE(desk.experiments.tell_unasked(source(desk.truth.run(uniform, 1000, 40))).repeated);
        desk.turn(2);
        desk.experiments.tell_unasked(source(desk.truth.run(uniform, 2000, 7)));
        desk.turn(1);
        const LedgerStatus status = desk.status();
        EXPECT_EQ(status.taken, status.told);
        EXPECT_EQ(desk.run.checkpoint()->counts.episodes(), status.told);
        EXPECT_TRUE(desk.experiments.replay().differences.empty()) << algorithm;
    }
}

TEST(AskTell, DoesNotTrustAClockThatWasSetBack) {
    Desk desk;
    const Experiment slow = desk.ask().front();
    desk.now -= 50'000;
    // Nobody knows whether its time is over: better given out too early than never.
    const Experiment again = desk.ask().front();
    EXPECT_EQ(again.attempt, 2);
    desk.tell(again);
    desk.tell(slow);
    const LedgerStatus status = desk.status();
    EXPECT_EQ(status.taken, 2);
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
}

TEST(AskTell, KeepsEpisodesThatNoBaseModelCanMake) {
    Desk desk;
    const Experiment experiment = desk.ask().front();
    auto episodes = desk.truth.run(experiment);
    const SuccessorMap& successors = desk.run.problem().successors();
    const Shape& shape = desk.run.problem().shape();
    State impossible = 0;
    while (successors.find_entry(shape.pair(episodes[0].states[0], episodes[0].actions[0]), impossible) >= 0)
        ++impossible;
    episodes[0].states[1] = impossible;
    const Told told = desk.experiments.tell(experiment.id, source(episodes));
    ASSERT_TRUE(told.contradiction);
    EXPECT_EQ(told.contradiction->kind, ContradictionKind::impossible_transition);
    EXPECT_THROW(desk.ask(), ModelContradiction);
    EXPECT_THROW(desk.ask(), ModelContradiction);
    EXPECT_EQ(desk.experiments.status().taken, 1);
    std::vector<LoggedEpisode> kept;
    desk.experiments.visit([&](const StoredEpisode& stored) { kept.push_back(stored.episode); });
    EXPECT_EQ(kept, episodes);
    const Asked despite = desk.experiments.ask({.despite_contradiction = true});
    EXPECT_EQ(despite.experiments.size(), 1U);
}

TEST(AskTell, GoesOnWhereTheGoalIsMovedAndEndsWhereItIsReached) {
    Desk desk(options(), {.episodes = 12});
    desk.turn(12);
    EXPECT_EQ(desk.experiments.ask().ended, "budget");
    EXPECT_EQ(desk.experiments.ask().ended, "budget");
    EXPECT_EQ(desk.run.result()->episodes, 12);
    desk.experiments.prepare({.episodes = 15});
    desk.turn(3);
    EXPECT_EQ(desk.experiments.ask().ended, "budget");
    desk.experiments.prepare({.episodes = 1000, .target = 1000});
    EXPECT_EQ(desk.experiments.ask().ended, "target");
    EXPECT_TRUE(desk.experiments.replay().differences.empty());
    EXPECT_EQ(desk.run.load()->result->episodes, 15);
}

}  // namespace
}  // namespace alidade::testing::asking
