#include "alidade/explore/combined.hpp"
#include "alidade/confidence/intersection.hpp"

#include <gtest/gtest.h>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/signed_features.hpp"

namespace alidade::combined_test {
namespace {

const char* const garnet = "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&seed=5";

/// Every algorithm with every choice of confidence sets.
class EveryConfidence : public testing::TestWithParam<std::tuple<std::string, std::string>> {
protected:
    ExplorerOptions options() const {
        ExplorerOptions result{.delta = 0.1, .seed = 2};
        result.constants.confidence = parse_confidence(std::get<1>(GetParam()));
        return result;
    }
    const ExplorerEntry& algorithm() const { return find_explorer(std::get<0>(GetParam())); }

    const Problem problem_ = make_builtin(garnet);
    const Task task_ = task_of(problem_);
};

TEST_P(EveryConfidence, ClaimsNothingThatTheTruthContradicts) {
    const MixtureModel truth = problem_.true_model();
    CountSplittingDeployer system(truth, 7);
    Exploration exploration(task_, algorithm(), options());
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
    Exploration whole(task_, algorithm(), options()), cut(task_, algorithm(), options());
    whole.run(system, {.episodes = 300});
    CountSplittingDeployer again(problem_.true_model(), 7);
    cut.run(again, {.episodes = 300});
    Exploration resumed(task_, algorithm(), options());
    resumed.restore(cut.memory(), cut.counts());
    whole.run(system, {.episodes = 2000});
    resumed.run(again, {.episodes = 2000});
    EXPECT_EQ(whole.memory(), resumed.memory());
    EXPECT_EQ(whole.best().certificate.bound, resumed.best().certificate.bound);
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryConfidence,
                         testing::Combine(testing::Values("likelihood", "hoeffding", "uniform"),
                                          testing::Values("own", "regression", "likelihood",
                                                          "regression,likelihood")),
                         [](const auto& entry) {
                             std::string name = std::get<0>(entry.param) + "_" + std::get<1>(entry.param);
                             for (char& c : name)
                                 if (c == ',') c = '_';
                             return name;
                         });

// The sets do not depend on who looks on: the regression that looks on is the one that would act, but for
// the data; and on the same data likelihood sets are those of the likelihood explorer.
TEST(CombinedExplorer, UsesTheSetsThatWereAskedFor) {
    const Problem problem = make_builtin(garnet);
    ExplorerOptions options{.seed = 2};
    const auto run = [&](const char* algorithm, ConfidenceChoice choice) {
        options.constants.confidence = choice;
        CountSplittingDeployer system(problem.true_model(), 7);
        Exploration exploration(task_of(problem), find_explorer(algorithm), options);
        exploration.run(system, {.episodes = 2000});
        return std::pair(exploration.counts(), exploration.explorer().evidence());
    };
    const auto [own_counts, own] = run("hoeffding", ConfidenceChoice::own);
    const auto [counts, evidence] = run("hoeffding", ConfidenceChoice::both);
    ASSERT_TRUE(std::ranges::equal(own_counts.values(), counts.values()));
    EXPECT_EQ(evidence.numbers.at("regression.gram"), own.numbers.at("gram"));
    EXPECT_EQ(evidence.integers.at("likelihood.counts"), likelihood_evidence(counts).integers.at("counts"));
    // Half of delta each, and the least of three certificates.
    options.delta /= 2;
    options.constants.confidence = ConfidenceChoice::own;
    const Task task = task_of(problem);
    const Knowledge regression = recompute_hoeffding(task, own, options);
    const Knowledge likelihood = recompute_likelihood(task, likelihood_evidence(counts), options);
    const double by_regression = regression.certificate.bound, by_likelihood = likelihood.certificate.bound;
    options.delta *= 2;
    options.constants.confidence = ConfidenceChoice::both;
    const Knowledge both = recompute_combined(task, evidence, options);
    EXPECT_LE(both.certificate.bound, std::min(by_regression, by_likelihood));
    EXPECT_GT(both.certificate.bound, 0);
    // The sets are those of one of the halves of delta, or what they have in common.
    for (std::size_t k = 0; k < both.mixture().sets().size(); ++k) {
        const ConfidenceSet &one = regression.mixture().sets()[k], &other = likelihood.mixture().sets()[k];
        const double found = both.mixture().sets()[k].radius();
        EXPECT_TRUE(found == one.radius() || found == other.radius() ||
                    found == intersection(one, other).radius());
    }
}

TEST(CombinedExplorer, RefusesWhatCannotBeHad) {
    ExplorerOptions options;
    options.constants.confidence = ConfidenceChoice::both;
    Task signed_task = task_of(make_builtin(garnet));
    signed_task.features = std::make_shared<const FeatureMap>(support::HardInstance(3, 4, 2000).map(1.5));
    EXPECT_THROW(find_explorer("hoeffding").make(signed_task, options), InvalidArgument);
    options.constants.regression.paper = true;
    options.constants.regression.episodes = 100;
    EXPECT_THROW(find_explorer("hoeffding").make(task_of(make_builtin(garnet)), options), InvalidArgument);
}

TEST(Catalogue, PrefersTheLikelihoodWhereThereIsOne) {
    EXPECT_EQ(default_explorer(task_of(make_builtin(garnet))).name, "likelihood");
    Task off = task_of(make_builtin(garnet));
    off.misspecification = 0.01;
    EXPECT_EQ(default_explorer(off).name, "hoeffding");
}

}  // namespace
}  // namespace alidade::combined_test
