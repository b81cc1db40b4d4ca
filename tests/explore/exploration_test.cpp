#include "alidade/explore/exploration.hpp"

#include <gtest/gtest.h>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "support/effort.hpp"

namespace alidade::exploration_test {
namespace {

const char* const garnet = "builtin:garnet?states=8&actions=3&features=3&horizon=4&successors=5&seed=5";

struct Trial {
    Problem problem;
    CountSplittingDeployer system;
    Exploration exploration;

    explicit Trial(ExplorerOptions options, const char* uri = garnet, const char* name = "hoeffding")
        : problem(make_builtin(uri)),
          system(problem.true_model(), options.seed),
          exploration(task_of(problem), named(std::move(options), name)) {}

    static ExplorerOptions named(ExplorerOptions options, const char* name) {
        options.algorithm = name;
        return options;
    }
};

TEST(Exploration, StopsAtTheBudgetWithAllEpisodesCounted) {
    Trial run({});
    EXPECT_EQ(run.exploration.run(run.system, {.episodes = 5000}), Stopped::budget);
    EXPECT_EQ(run.exploration.explorer().episodes(), 5000);
    EXPECT_EQ(run.exploration.counts().episodes(), 5000);
    std::int64_t seen = 0;
    for (const SeenEntry& entry : run.exploration.counts().seen(0)) seen += entry.count;
    EXPECT_EQ(seen, 5000);
}

TEST(Exploration, StopsAtTheFirstCertificateBelowTheTarget) {
    Trial run({});
    EXPECT_EQ(run.exploration.run(run.system, {.episodes = 1'000'000, .target = 1.0}), Stopped::target);
    EXPECT_LE(run.exploration.best().certificate.bound, 1.0);
    EXPECT_LT(run.exploration.explorer().episodes(), 100'000);
    const auto& trace = run.exploration.trace();
    for (std::size_t i = 0; i + 1 < trace.size(); ++i) EXPECT_GT(trace[i].bound, 1.0);
}

TEST(Exploration, HandsOverTheBestIterate) {
    Trial run({});
    run.exploration.run(run.system, {.episodes = 3000});
    double least = 1e9;
    for (const TracePoint& point : run.exploration.trace()) least = std::min(least, point.bound);
    double best = run.exploration.best().certificate.candidates[0].second;
    for (const auto& [name, bound] : run.exploration.best().certificate.candidates)
        best = std::min(best, bound);
    EXPECT_LE(best, least);
}

TEST(Exploration, EndsWhenWhoIsAskedHasSeenEnough) {
    for (const char* const name : {"likelihood", "hoeffding"}) {
        Trial run({}, garnet, name), other({}, garnet, name);
        std::vector<std::int64_t> asked;
        const auto after = [&](std::int64_t episodes) {
            return ExploreOptions{.episodes = 100'000,
                                  .enough = [&asked, episodes](const Knowledge& knowledge) {
                                      EXPECT_NE(knowledge.learned, nullptr);
                                      EXPECT_TRUE(knowledge.certificate.candidates.empty());
                                      asked.push_back(knowledge.episodes);
                                      return knowledge.episodes >= episodes;
                                  }};
        };
        EXPECT_EQ(run.exploration.run(run.system, after(200)), Stopped::target);
        const std::int64_t first = run.exploration.counts().episodes();
        EXPECT_GE(first, 200);
        EXPECT_LT(first, 230);
        EXPECT_EQ(asked.back(), first);
        // What was enough is handed over, with the only certificate.
        EXPECT_EQ(run.exploration.best().episodes, first);
        EXPECT_FALSE(run.exploration.best().certificate.candidates.empty());
        EXPECT_TRUE(run.exploration.trace().empty());
        // Somebody else, who wants more, is asked anew.
        EXPECT_EQ(run.exploration.run(run.system, after(1000)), Stopped::target);
        const std::int64_t second = run.exploration.counts().episodes();
        EXPECT_GE(second, 1000);
        EXPECT_EQ(run.exploration.best().episodes, second);
        // Nobody who acts has noticed.
        other.exploration.run(other.system, {.episodes = second});
        EXPECT_EQ(run.exploration.counts().dense(), other.exploration.counts().dense());
        EXPECT_EQ(run.exploration.run(run.system, {.episodes = second + 1}), Stopped::budget);
    }
}

TEST(Exploration, ReplansAsItsScheduleSays) {
    for (const auto& [schedule, least, most] :
         {std::tuple("every", 301, 301), std::tuple("growth=0.1", 30, 60), std::tuple("doubling", 8, 60)}) {
        Trial run({.schedule = parse_schedule(schedule)});
        run.exploration.run(run.system, {.episodes = 300});
        EXPECT_GE(run.exploration.explorer().replans(), least) << schedule;
        EXPECT_LE(run.exploration.explorer().replans(), most) << schedule;
    }
}

TEST(Exploration, RecomputesItsKnowledgeFromTheEvidenceAlone) {
    for (const char* uri : {garnet, "builtin:inventory?seed=1"}) {
        Trial run({}, uri);
        run.exploration.run(run.system, {.episodes = support::episodes(2000)});
        const Knowledge& best = run.exploration.best();
        const Knowledge again =
            recompute(task_of(run.problem), run.exploration.best_evidence(), {.algorithm = "hoeffding"});
        EXPECT_EQ(again.certificate.candidates, best.certificate.candidates) << uri;
        EXPECT_EQ(again.mixture().model().weights(), best.mixture().model().weights()) << uri;
        EXPECT_EQ(again.episodes, best.episodes);
    }
}

/// Stops a run after every `pause` batches, writes it down, and goes on with a new one.
Snapshot run_with_pauses(const ExplorerOptions& options, const char* name, std::int64_t episodes, int pause) {
    auto run = std::make_unique<Trial>(options, garnet, name);
    while (true) {
        int batches = 0;
        const Stopped stopped = run->exploration.run(
            run->system, {.episodes = episodes, .interrupted = [&] { return ++batches > pause; }});
        if (stopped != Stopped::interrupted) return run->exploration.memory();
        const Snapshot memory = run->exploration.memory();
        const Counts counts = run->exploration.counts();
        run = std::make_unique<Trial>(options, garnet, name);
        run->exploration.restore(memory, counts);
    }
}

TEST(Exploration, EqualsAnUninterruptedOneWhenResumed) {
    for (const char* name : {"hoeffding", "likelihood", "uniform"})
        for (const char* schedule : {"every", "doubling", "growth=0.1"}) {
            ExplorerOptions options{.seed = 4, .schedule = parse_schedule(schedule)};
            if (std::string(name) == "likelihood") options.confidence = "likelihood?prequential=true";
            const std::int64_t episodes =
                std::string(schedule) == "every" ? support::episodes(300, 15) : support::episodes(5000);
            const Snapshot whole = run_with_pauses(options, name, episodes, 1'000'000);
            EXPECT_EQ(run_with_pauses(options, name, episodes, 7), whole) << name << " " << schedule;
            EXPECT_EQ(run_with_pauses(options, name, episodes, 1), whole) << name << " " << schedule;
        }
}

// Each extension may cut a batch short and so add a policy; written down and read back in between.
// What is kept of a policy is the largest of the parts of the loss at that moment whose action it takes; of
// those that the certificate names, where it takes none, the largest.
TEST(Exploration, KeepsWhatEachPolicyAfterACertificateWasFor) {
    for (const char* const name : {"likelihood", "hoeffding"}) {
        Trial run({}, garnet, name);
        const ExploreOptions options{.episodes = 5000};
        std::size_t known = 0, aimed = 0, otherwise = 0;
        while (const std::optional<Deployment> next = run.exploration.ask(options)) {
            if (run.exploration.trace().size() > known) {
                known = run.exploration.trace().size();
                const Knowledge& now = run.exploration.best();
                const std::optional<ExperimentAim>& aim = run.exploration.trace().back().aim;
                ASSERT_TRUE(aim);
                // An earlier certificate that was better is what is handed over.
                if (now.episodes == run.exploration.explorer().episodes()) {
                    const auto& parts = now.certificate.contributions;
                    auto served = std::ranges::find_if(parts, [&](const Contribution& part) {
                        return next->policy->action(part.step, part.state) == part.action;
                    });
                    (served == parts.end() ? otherwise : aimed) += 1;
                    if (served == parts.end()) served = parts.begin();
                    EXPECT_EQ(*aim,
                              (ExperimentAim{served->step, served->state, served->action, served->amount}));
                }
            }
            Counts batch(run.problem.shared_successors(), run.problem.shape().horizon);
            run.system.deploy(*next->policy, run.exploration.explorer().episodes(), next->episodes, batch);
            run.exploration.tell(batch);
        }
        EXPECT_GE(aimed, 5u) << name;
        EXPECT_GE(aimed, otherwise) << name;
        // It is remembered; of a memory of before, in which it was not, the rest is read.
        Snapshot memory = run.exploration.memory();
        EXPECT_EQ(trace_of(memory), run.exploration.trace());
        memory.integers.erase("trace.aim");
        memory.numbers.erase("trace.aim_share");
        for (const TracePoint& point : trace_of(memory)) EXPECT_FALSE(point.aim);
        EXPECT_EQ(trace_of(memory).size(), known);
    }
}

TEST(Exploration, KeepsWithinItsBoundOnPoliciesHoweverOftenItIsExtended) {
    Stream random(3, Purpose::instance, 0, 0);
    for (const char* name : {"hoeffding", "likelihood", "bernstein", "uniform"})
        for (const char* schedule : {"every", "doubling", "growth=0.1", "growth=2"}) {
            const ExplorerOptions options{.seed = 4, .schedule = parse_schedule(schedule)};
            auto run = std::make_unique<Trial>(options, garnet, name);
            std::int64_t budget = 0;
            for (int extension = 0; extension < 12; ++extension) {
                budget += 1 + sample_index(random, 10 + budget / 4);
                if (std::string(schedule) == "every") budget = 2 * (extension + 1);
                run->exploration.run(run->system, {.episodes = budget});
                const Explorer& explorer = run->exploration.explorer();
                EXPECT_LE(explorer.replans(), explorer.replan_bound()) << name << " " << schedule;
                const Snapshot memory = run->exploration.memory();
                const std::int64_t bound = explorer.replan_bound();
                const Counts counts = run->exploration.counts();
                run = std::make_unique<Trial>(options, garnet, name);
                run->exploration.restore(memory, counts);
                EXPECT_EQ(run->exploration.explorer().replan_bound(), bound) << name << " " << schedule;
                EXPECT_EQ(run->exploration.memory(), memory) << name << " " << schedule;
            }
        }
}

TEST(Exploration, GivesTheSameBytesForAnyNumberOfThreads) {
    const char* inventory =
        support::effort_is("sanitized") ? "builtin:inventory?seed=2&capacity=8" : "builtin:inventory?seed=2";
    for (const char* name : {"hoeffding", "likelihood"})
        for (const char* uri : {garnet, inventory}) {
            Trial one({.threads = 1}, uri, name), two({.threads = 2}, uri, name);
            one.exploration.run(one.system, {.episodes = support::episodes(3000)});
            two.exploration.run(two.system, {.episodes = support::episodes(3000)});
            EXPECT_EQ(one.exploration.memory(), two.exploration.memory()) << name << " " << uri;
            EXPECT_EQ(one.exploration.counts(), two.exploration.counts()) << name << " " << uri;
        }
}

TEST(Exploration, KnowsSomethingBeforeTheFirstEpisode) {
    Trial run({});
    EXPECT_TRUE(run.exploration.best().certificate.vacuous);
    EXPECT_EQ(run.exploration.run(run.system, {.episodes = 10, .interrupted = [] { return true; }}),
              Stopped::interrupted);
    EXPECT_EQ(run.exploration.best().episodes, 0);
}

TEST(Exploration, RefusesABadBudgetTargetOrMemory) {
    Trial run({});
    EXPECT_THROW(run.exploration.run(run.system, {.episodes = 0}), InvalidArgument);
    EXPECT_THROW(run.exploration.run(run.system, {.episodes = most_episodes + 1}), InvalidArgument);
    EXPECT_THROW(run.exploration.run(run.system, {.target = 0.0}), InvalidArgument);
    Trial other({});
    other.exploration.run(other.system, {.episodes = 100});
    EXPECT_THROW(run.exploration.restore(other.exploration.memory(), run.exploration.counts()),
                 InvalidArgument);
}

// In large models certificates on the way would take most of the time: forty policies lie between two, and
// what is handed over at the end is the last one's or better.
TEST(Exploration, CertifiesLargeModelsSeldomUnlessATargetWaits) {
    const char* const large = "builtin:garnet?states=900&actions=4&features=3&horizon=4&successors=4&seed=5";
    Trial run({.schedule = {Schedule::Kind::growth, 0.05, 0}}, large, "likelihood");
    EXPECT_EQ(run.exploration.run(run.system, {.episodes = 300}), Stopped::budget);
    EXPECT_GE(run.exploration.explorer().replans(), 80);
    std::int64_t last = 0;
    for (const TracePoint& point : run.exploration.trace()) {
        EXPECT_GE(point.replans - last, 40);
        last = point.replans;
    }
    EXPECT_GE(run.exploration.trace().size(), 1u);
    EXPECT_EQ(run.exploration.best().episodes, 300);
    Trial few({}, large, "likelihood");
    EXPECT_EQ(few.exploration.run(few.system, {.episodes = 5}), Stopped::budget);
    EXPECT_TRUE(few.exploration.trace().empty());
    EXPECT_FALSE(few.exploration.best().certificate.candidates.empty());
    // What has no certificate yet goes on as if it had not been stopped.
    Trial again({}, large, "likelihood");
    again.exploration.restore(few.exploration.memory(), few.exploration.counts());
    again.exploration.run(again.system, {.episodes = 40});
    few.exploration.run(few.system, {.episodes = 40});
    EXPECT_EQ(again.exploration.best().certificate.candidates, few.exploration.best().certificate.candidates);
    Trial waiting({}, large, "likelihood");
    waiting.exploration.run(waiting.system, {.episodes = 40, .target = 1e-3});
    EXPECT_GE(waiting.exploration.trace().size(), 5u);
}

}  // namespace
}  // namespace alidade::exploration_test
