#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/families/hard.hpp"
#include "support/effort.hpp"
#include "support/initial_step.hpp"
#include "support/pinned_failures.hpp"
#include "support/signed_features.hpp"

// The settings of the paper beyond base models with one theta a step and a fixed start: what holds there
// holds here.
namespace alidade::settings_test {
namespace {

struct Tally {
    int failures = 0;
    double deepest = 0;  ///< largest distance of the truth from an estimate, in radii
    Index violations = 0;
};

/// Explores and audits at a few checkpoints; whether the truth ever left its sets.
void try_once(const Problem& problem, std::uint64_t seed, const char* algorithm, Tally& tally) {
    const MixtureModel truth = problem.true_model();
    CountSplittingDeployer system(truth, seed);
    Exploration exploration(task_of(problem), {.algorithm = algorithm, .delta = 0.1, .seed = seed});
    bool covered = true;
    for (const std::int64_t episodes : {20, 200, 2000}) {
        exploration.run(system, {.episodes = episodes});
        const AuditResult result = audit(exploration.best(), truth,
                                         {.rewards = 9, .climb_steps = 1, .climb_starts = 1, .seed = seed});
        covered = covered && result.truth_in_confidence_set;
        tally.deepest = std::max(tally.deepest, result.depth);
        if (covered) tally.violations += result.violations;
    }
    tally.failures += covered ? 0 : 1;
}

Problem hard_problem(Index d, Index horizon, std::uint64_t seed) {
    const detail::HardLine hard(d, horizon, 2000);
    Stream random = support::test_stream(seed, 31);
    Matrix truth(horizon, d);
    for (Index h = 0; h < horizon; ++h)
        truth.row(h) = hard.weights(sample_index(random, Index{1} << (d - 1))).transpose();
    ProblemDescription parts;
    parts.name = "hard";
    parts.features = std::make_shared<const FeatureMap>(hard.map(1.5));
    parts.horizon = horizon;
    parts.truth = truth;
    return Problem(parts);
}

TEST(SignedFeatures, AreExploredWithCoverage) {
    const int runs = support::runs(40, 400);
    Tally tally;
    for (int seed = 0; seed < runs; ++seed)
        try_once(hard_problem(3, 4, static_cast<std::uint64_t>(seed)), static_cast<std::uint64_t>(seed),
                 "hoeffding", tally);
    EXPECT_TRUE(support::failures_are(tally.failures, runs, {{40, 0}, {400, 0}}));
    EXPECT_TRUE(support::depth_is(tally.deepest, runs, {{40, 0.6461}, {400, 0.7053}}));
    EXPECT_EQ(tally.violations, 0);
}

/// Random signed features whose norm bound is little more than what the truth needs.
Problem tight_problem(std::uint64_t seed) {
    Stream random = support::test_stream(seed, 33);
    const Shape shape{3 + sample_index(random, 3), 1 + sample_index(random, 3), 2 + sample_index(random, 4)};
    const Index d = 2 + sample_index(random, 3);
    ProblemDescription parts;
    parts.name = "tight";
    parts.features = std::make_shared<const FeatureMap>(support::random_signed_features(
        random, shape, d, 2 + sample_index(random, 2), 1 + std::pow(10.0, -4 * sample_uniform(random))));
    parts.horizon = shape.horizon;
    parts.homogeneous = sample_index(random, 2) == 0;
    parts.truth = Matrix::Zero(parts.homogeneous ? 1 : shape.horizon, d);
    parts.truth->col(0).setOnes();
    return Problem(parts);
}

/// What is handed over must be possible: the weights are members, and everything that is said of the truth on
/// the event holds of the model, too.
void expect_member(const LearnedMixture& learned, std::uint64_t seed) {
    for (const ConfidenceSet& set : learned.sets()) {
        EXPECT_TRUE(set.parameters().contains(set.weights(), 1e-11)) << "seed " << seed;
        EXPECT_LE(set.depth(set.weights()), 1 + 1e-9) << "seed " << seed;
    }
    const FeatureMap& features = learned.model().features();
    for (Step h = 0; h + 1 < learned.shape().horizon; ++h) {
        const auto law = learned.model().all_probabilities(h);
        const SupportFunction support = learned.set(h).support_function();
        for (Index e = 0; e < features.entries(); ++e) {
            const Interval range = learned.set(h).range(features.phi(e));
            EXPECT_GE(law[at(e)], range.lower - 1e-11) << "seed " << seed;
            EXPECT_LE(law[at(e)], range.upper + 1e-11) << "seed " << seed;
            EXPECT_LE(law[at(e)], support.bracket(features.phi(e)).upper + 1e-9) << "seed " << seed;
        }
    }
    Stream random = support::test_stream(seed, 34);
    for (int r = 0; r < 3; ++r) {
        const Reward reward = support::random_reward(random, learned.shape());
        for (const Policy& policy : {backward_induction(learned.model(), reward).policy,
                                     support::random_stochastic_policy(random, learned.shape())}) {
            const RewardCertificate certificate = certify_reward(learned, reward, policy);
            const double value = evaluate(learned.model(), policy, reward).value;
            EXPECT_GE(value, certificate.value.lower) << "seed " << seed;
            EXPECT_LE(value, certificate.value.upper) << "seed " << seed;
        }
    }
}

TEST(SignedFeatures, TheModelHandedOverIsAMemberOfItsOwnSets) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(60, 20); ++seed) {
        const Problem problem = seed % 4 == 3 ? hard_problem(3, 4, seed) : tight_problem(seed);
        CountSplittingDeployer system(problem.true_model(), seed);
        Exploration exploration(
            task_of(problem),
            {.algorithm = seed % 2 == 0 ? "hoeffding" : "uniform", .delta = 0.1, .seed = seed});
        for (const std::int64_t episodes : {1, 30, 1000}) {
            exploration.run(system, {.episodes = episodes});
            expect_member(exploration.best().mixture(), seed);
        }
    }
}

TEST(SignedFeatures, AreLearned) {
    const Problem problem = hard_problem(2, 3, 1);
    double before = 0;
    for (const std::int64_t episodes : {1'000'000, 100'000'000}) {
        CountSplittingDeployer system(problem.true_model(), 1);
        Exploration exploration(task_of(problem), {.algorithm = "hoeffding", .seed = 1});
        exploration.run(system, {.episodes = episodes});
        const double bound = exploration.best().certificate.bound;
        // A hundred times the episodes: a tenth of the bound, but for the logarithm.
        if (before > 0) {
            EXPECT_LT(bound, 0.15 * before);
        }
        before = bound;
    }
    EXPECT_LT(before, 0.1);
}

Problem garnet(const char* sizes, int seed, bool homogeneous) {
    ProblemDescription parts =
        make_builtin(std::string("builtin:garnet?") + sizes + "&seed=" + std::to_string(seed)).description();
    // One theta in truth; only the claim differs.
    const Matrix row = parts.truth->topRows(1);
    parts.homogeneous = homogeneous;
    parts.truth = homogeneous ? row : row.replicate(parts.horizon, 1).eval();
    return Problem(parts);
}

// T22 [theory §3j]: pooled statistics are one regression with rows of all steps, V frozen before each.
TEST(Pooling, KeepsCoverage) {
    const int runs = support::runs(60, 600);
    Tally tally;
    for (int seed = 0; seed < runs; ++seed)
        try_once(garnet("states=5&actions=2&features=3&horizon=5&successors=4", seed, true),
                 static_cast<std::uint64_t>(seed), "hoeffding", tally);
    EXPECT_TRUE(support::failures_are(tally.failures, runs, {{60, 0}, {600, 0}}));
    EXPECT_TRUE(support::depth_is(tally.deepest, runs, {{60, 0.7215}, {600, 0.8201}}));
    EXPECT_EQ(tally.violations, 0);
}

std::int64_t episodes_to(const Problem& problem, double target, std::uint64_t seed) {
    CountSplittingDeployer system(problem.true_model(), seed);
    Exploration exploration(task_of(problem), {.algorithm = "hoeffding", .seed = seed});
    EXPECT_EQ(exploration.run(system, {.episodes = 10'000'000, .target = target}), Stopped::target);
    return exploration.explorer().episodes();
}

// T22: about H times fewer episodes (4 to 11 measured at H = 5 to 10); at least twice is asked for here.
TEST(Pooling, SavesEpisodes) {
    for (int seed = 1; seed <= 3; ++seed) {
        const char* sizes = "states=8&actions=3&features=3&horizon=6&successors=4";
        const std::int64_t apart = episodes_to(garnet(sizes, seed, false), 0.6, 1);
        const std::int64_t pooled = episodes_to(garnet(sizes, seed, true), 0.6, 1);
        EXPECT_GT(apart, 2 * pooled) << "seed " << seed << ": " << apart << " and " << pooled;
    }
}

// T24 [theory §1.1]: the s_0 in front of a fixed start is a step at which nothing is learned; what is learned
// behind it is the same, with one more unit of range.
TEST(InitialStep, LearnsTheSameBehindIt) {
    const Problem plain = make_builtin("builtin:garnet?states=6&actions=2&features=3&horizon=4&seed=3");
    const Problem longer = support::with_initial_step(plain);
    const auto learned = [](const Problem& problem) {
        CountSplittingDeployer system(problem.true_model(), 5);
        Exploration exploration(task_of(problem), {.algorithm = "uniform", .seed = 5});
        exploration.run(system, {.episodes = 200'000});
        return exploration.best().mixture();
    };
    const LearnedMixture without = learned(plain), with = learned(longer);
    ASSERT_EQ(with.sets().size(), without.sets().size() + 1);
    for (Step h = 0; h + 1 < plain.shape().horizon; ++h) {
        EXPECT_LT((with.set(h + 1).weights() - without.set(h).weights()).norm(), 0.05) << "step " << h;
        EXPECT_NEAR(with.set(h + 1).radius(), without.set(h).radius(), 0.2);
    }
    EXPECT_TRUE(with.contains(longer.true_model()));
}

// T21 [theory §3e]: policies kept for longer change nothing about validity, and little about quality.
TEST(Schedules, DifferInCostNotInValidity) {
    for (int seed = 1; seed <= 2; ++seed) {
        const Problem problem =
            make_builtin("builtin:garnet?states=10&actions=3&features=4&horizon=4&successors=5&seed=" +
                         std::to_string(seed));
        const MixtureModel truth = problem.true_model();
        double every = 0;
        for (const char* schedule : {"every", "growth=0.1", "doubling", "growth=1"}) {
            CountSplittingDeployer system(truth, 1);
            Exploration exploration(
                task_of(problem),
                {.algorithm = "hoeffding", .seed = 1, .schedule = parse_schedule(schedule)});
            exploration.run(system, {.episodes = support::episodes(4000)});
            EXPECT_LE(exploration.explorer().replans(), exploration.explorer().replan_bound()) << schedule;
            const AuditResult result = audit(exploration.best(), truth, {.rewards = 30, .climb_steps = 10});
            EXPECT_EQ(result.violations, 0) << schedule;
            const double bound = exploration.best().certificate.bound;
            if (every == 0) every = bound;
            // K grows by 1 + eta at most, so the bound by sqrt(2) at most for doubling.
            EXPECT_LE(bound, every * std::sqrt(2.0)) << schedule;
        }
    }
}

}  // namespace
}  // namespace alidade::settings_test
