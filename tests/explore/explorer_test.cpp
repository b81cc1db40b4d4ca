#include "alidade/explore/explorer.hpp"

#include <gtest/gtest.h>

#include "alidade/audit/audit.hpp"
#include "alidade/confidence/intersection.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/likelihood_source.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/families/hard.hpp"
#include "support/signed_features.hpp"

namespace alidade::explorer_test {
namespace {

const char* const garnet = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&seed=5";

/// Every algorithm with every choice of confidence sets.
class EveryConfidence : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    ExplorerOptions options() const {
        return {.algorithm = std::get<0>(GetParam()),
                .confidence = std::get<1>(GetParam()),
                .delta = 0.1,
                .seed = 2,
                // A search takes longer than a pass: it is made less often.
                .schedule = {.growth = std::get<0>(GetParam()) == "bernstein" ? 0.5 : 0.1}};
    }

    const Problem problem_ = make_builtin(garnet);
    const Task task_ = task_of(problem_);
};

TEST_P(EveryConfidence, ClaimsNothingThatTheTruthContradicts) {
    const MixtureModel truth = problem_.true_model();
    CountSplittingDeployer system(truth, 7);
    Exploration exploration(task_, options());
    for (const std::int64_t episodes : {50, 1000, 5000}) {
        exploration.run(system, {.episodes = episodes});
        const Knowledge& best = exploration.best();
        EXPECT_EQ(best.mixture().delta(), 0.1);
        EXPECT_EQ(best.certificate.failure_probability, 0.1);
        const AuditResult result = audit(best, truth, {.rewards = 12, .climb_steps = 20, .seed = 1});
        EXPECT_TRUE(result.truth_in_confidence_set);
        EXPECT_EQ(result.violations, 0);
    }
}

TEST_P(EveryConfidence, GoesOnFromItsMemoryAsIfNeverStopped) {
    CountSplittingDeployer system(problem_.true_model(), 7);
    Exploration whole(task_, options()), cut(task_, options());
    whole.run(system, {.episodes = 300});
    CountSplittingDeployer again(problem_.true_model(), 7);
    cut.run(again, {.episodes = 300});
    Exploration resumed(task_, options());
    resumed.restore(cut.memory(), cut.counts());
    whole.run(system, {.episodes = 2000});
    resumed.run(again, {.episodes = 2000});
    EXPECT_EQ(whole.memory(), resumed.memory());
    EXPECT_EQ(whole.best().certificate.bound, resumed.best().certificate.bound);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryConfidence,
                         testing::Combine(testing::Values("likelihood", "hoeffding", "bernstein", "uniform"),
                                          testing::Values("", "regression", "weighted", "likelihood",
                                                          "regression,likelihood", "weighted,likelihood",
                                                          "regression,weighted,likelihood",
                                                          "bernstein,likelihood")),
                         [](const auto& entry) {
                             std::string name =
                                 std::get<0>(entry.param) + "_" +
                                 (std::get<1>(entry.param).empty() ? "own" : std::get<1>(entry.param));
                             for (char& c : name)
                                 if (c == ',') c = '_';
                             return name;
                         });

/// Every choice of sets for signed features, whoever acts.
class EverySignedChoice : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

// Likelihood sets of signed features rest on predictions made on the way: they hold whoever acts, share delta
// with others, and are resumed as if never stopped.
TEST_P(EverySignedChoice, HoldsAndGoesOnFromItsMemory) {
    const auto& [algorithm, confidence] = GetParam();
    const Problem problem = make_builtin("builtin:hard?features=3&horizon=5");
    const MixtureModel truth = problem.true_model();
    const Task task = task_of(problem);
    const ExplorerOptions options{
        .algorithm = algorithm, .confidence = confidence, .seed = 2, .schedule = {.growth = 0.5}};
    CountSplittingDeployer system(truth, 7), again(truth, 7);
    Exploration whole(task, options), cut(task, options), resumed(task, options);
    whole.run(system, {.episodes = 300});
    cut.run(again, {.episodes = 300});
    resumed.restore(cut.memory(), cut.counts());
    whole.run(system, {.episodes = 3000});
    resumed.run(again, {.episodes = 3000});
    EXPECT_EQ(whole.memory(), resumed.memory());
    EXPECT_EQ(whole.best().certificate.failure_probability, 0.1);
    const AuditResult result = audit(whole.best(), truth, {.rewards = 12, .climb_steps = 20, .seed = 1});
    EXPECT_TRUE(result.truth_in_confidence_set);
    EXPECT_EQ(result.violations, 0);
    const Knowledge again_computed = recompute(task, whole.best_evidence(), whole.explorer().options());
    EXPECT_LE(again_computed.certificate.bound, whole.best().certificate.bound * (1 + 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EverySignedChoice,
                         testing::Combine(testing::Values("hoeffding", "bernstein", "uniform"),
                                          testing::Values("likelihood", "weighted,likelihood",
                                                          "regression,likelihood")),
                         [](const auto& entry) {
                             std::string name = std::get<0>(entry.param) + "_" + std::get<1>(entry.param);
                             std::ranges::replace(name, ',', '_');
                             return name;
                         });

// Nothing was predicted of logs.
TEST(Explorer, RefusesLikelihoodSetsOfSignedFeaturesWithoutPredictions) {
    const Problem problem = make_builtin("builtin:hard?features=3&horizon=3");
    const Task task = task_of(problem);
    const Counts counts(task.features, 3);
    EXPECT_THROW(learn(task, counts), InvalidArgument);
    EXPECT_THROW(recompute(task, detail::likelihood_evidence(counts),
                           {.algorithm = "uniform", .confidence = "likelihood"}),
                 InvalidArgument);
}

// The sets do not depend on who looks on: the regression that looks on is the one that would act, but for
// the data; and on the same data likelihood sets are those of the likelihood explorer.
TEST(Explorer, UsesTheSetsThatWereAskedFor) {
    const Problem problem = make_builtin(garnet);
    const Task task = task_of(problem);
    const auto run = [&](const char* confidence) {
        CountSplittingDeployer system(problem.true_model(), 7);
        Exploration exploration(task, {.algorithm = "hoeffding", .confidence = confidence, .seed = 2});
        exploration.run(system, {.episodes = 2000});
        return std::pair(exploration.counts(), exploration.explorer().evidence());
    };
    const auto [own_counts, own] = run("");
    const auto [counts, evidence] = run("likelihood,regression");
    ASSERT_TRUE(own_counts == counts);
    EXPECT_EQ(evidence.numbers.at("regression.gram"), own.numbers.at("gram"));
    EXPECT_EQ(evidence.integers.at("likelihood.counts"),
              detail::likelihood_evidence(counts).integers.at("counts"));
    // Half of delta each, and the least of three certificates.
    const detail::SourceSetting half{.task = task,
                                     .delta = 0.05};  // by the sources themselves, which share nothing
    const Knowledge regression = detail::make_source({"regression", {}}, half)->recompute(own);
    const Knowledge likelihood =
        detail::make_source({"likelihood", {}}, half)->recompute(detail::likelihood_evidence(counts));
    const double by_regression = regression.certificate.bound, by_likelihood = likelihood.certificate.bound;
    const Knowledge both =
        recompute(task, evidence, {.algorithm = "hoeffding", .confidence = "regression,likelihood"});
    EXPECT_LE(both.certificate.bound, std::min(by_regression, by_likelihood));
    EXPECT_GT(both.certificate.bound, 0);
    // The sets are those of one of the halves of delta, or what they have in common.
    for (std::size_t k = 0; k < both.mixture().sets().size(); ++k) {
        const ConfidenceSet &one = regression.mixture().sets()[k], &other = likelihood.mixture().sets()[k];
        const double found = both.mixture().sets()[k].radius();
        EXPECT_TRUE(found == one.radius() || found == other.radius() ||
                    found == detail::intersection(one, other).radius());
    }
}

TEST(Explorer, RefusesWhatCannotBeHad) {
    const auto refused = [](const Task& task, const char* algorithm, const char* confidence) {
        EXPECT_THROW(Explorer(task, {.algorithm = algorithm, .confidence = confidence}), InvalidArgument)
            << algorithm << " with " << confidence;
    };
    const Task task = task_of(make_builtin(garnet));
    Task signed_task = task;
    signed_task.features = std::make_shared<const FeatureMap>(detail::HardLine(3, 4, 2000).map(1.5));
    refused(signed_task, "likelihood", "");
    const char* const paper = "regression?constants=paper&episodes=100";
    EXPECT_NO_THROW(Explorer(task, {.algorithm = "hoeffding", .confidence = paper}));
    refused(task, "likelihood", paper);
    refused(task, "hoeffding", "regression?constants=paper&episodes=100,likelihood");
    refused(task, "hoeffding", "regression?constants=paper");
    refused(task, "hoeffding", "regression?episodes=100");
    refused(task, "hoeffding", "regression?constants=paper&episodes=100&without=span");
}

// A batch that is refused is not half told.
TEST(Explorer, TakesUpCountsWholeOrNotAtAll) {
    const Task task = task_of(make_builtin(garnet));
    Explorer explorer(task, {.algorithm = "hoeffding", .confidence = "regression,likelihood"});
    explorer.ask();
    const Task other =
        task_of(make_builtin("builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&seed=6"));
    const Snapshot before = explorer.memory();
    EXPECT_THROW(explorer.tell(Counts(other.features, 4)), InvalidArgument);
    EXPECT_EQ(explorer.memory(), before);
}

// Equal explorations have equal texts, so that a run can be told from another.
TEST(Explorer, SpellsItsOptionsInOneWay) {
    const Task task = task_of(make_builtin(garnet));
    const auto spelled = [&](const char* algorithm, const char* confidence) {
        const ExplorerOptions found = canonical({.algorithm = algorithm, .confidence = confidence}, task);
        return found.algorithm + " / " + found.confidence;
    };
    EXPECT_EQ(spelled("", ""), "likelihood / likelihood?radius=centred");
    EXPECT_EQ(spelled("uniform", ""), "uniform / regression");
    EXPECT_EQ(spelled("likelihood?bonus=sqrt", "likelihood?prequential=false"),
              "likelihood / likelihood?radius=centred");
    EXPECT_EQ(spelled("likelihood?bonus=gain", "likelihood,regression"),
              "likelihood?bonus=gain / regression,likelihood?radius=centred");
    EXPECT_EQ(spelled("hoeffding?ties=first", "regression?width=l1&without=span+hull+span"),
              "hoeffding?ties=first / regression?width=l1&without=hull+span");
}

// The likelihood's bonus could not be computed: it allowed for no sets at all.
TEST(Explorer, HasNothingToLearnInOneStep) {
    const char* const sizes = "?states=4&actions=2&features=2&horizon=1";
    for (const BehaviourEntry& entry : behaviours()) {
        const Problem problem = make_builtin(
            (entry.name == "lsvi" ? "builtin:linear-random" : "builtin:garnet") + std::string(sizes));
        Explorer explorer(task_of(problem), {.algorithm = entry.name});
        EXPECT_EQ(explorer.ask().policy->shape().horizon, 1) << entry.name;
        Counts counts(problem.shared_successors(), 1);
        counts.add_episodes(1);
        explorer.tell(counts);
        EXPECT_EQ(explorer.knowledge().certificate.bound, 0) << entry.name;
    }
}

TEST(Catalogue, PrefersTheLikelihoodWhereThereIsOne) {
    EXPECT_EQ(default_behaviour(task_of(make_builtin(garnet))).name, "likelihood");
    Task off = task_of(make_builtin(garnet));
    off.misspecification = 0.01;
    EXPECT_EQ(default_behaviour(off).name, "likelihood") << "bets allow for it";
    EXPECT_EQ(default_behaviour(task_of(make_builtin("builtin:linear-lock"))).name, "lsvi");
}

}  // namespace
}  // namespace alidade::explorer_test
