#include <gtest/gtest.h>

#include <limits>

#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/likelihood_source.hpp"
#include "alidade/explore/regression_source.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/signed_features.hpp"

// No knowledge without its conditions, whichever way it is asked for.
namespace alidade::conditions_test {
namespace {

Task garnet_task(int seed = 5) {
    return task_of(make_builtin("builtin:garnet?states=5&actions=2&features=3&horizon=3&successors=3&seed=" +
                                std::to_string(seed)));
}

Knowledge by_likelihood(const Task& task, const Counts& counts) {
    return detail::likelihood_knowledge(task, counts, {});
}

void expect_says(const auto& attempt, const std::string& what) {
    try {
        attempt();
        ADD_FAILURE() << "nothing was refused: " << what;
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
}

TEST(KnowledgeConditions, LikelihoodRefusesAMisspecificationThatIsNone) {
    Task task = garnet_task();
    const Counts counts(task.features, task.horizon);
    EXPECT_NO_THROW(by_likelihood(task, counts));
    const ExplorerOptions alone{.algorithm = "likelihood"},
        both{.algorithm = "hoeffding", .confidence = "regression,likelihood"};
    task.misspecification = 0.02;
    EXPECT_EQ(learn(task, counts).mixture().misspecification(), 0.02);
    for (const double off : {1.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
        task.misspecification = off;
        expect_says([&] { by_likelihood(task, counts); }, "misspecification");
        expect_says([&] { learn(task, counts); }, "misspecification");
        expect_says([&] { recompute(task, detail::likelihood_evidence(counts), alone); }, "misspecification");
        Snapshot parts;
        parts.add("regression.", Explorer(garnet_task(), {.algorithm = "hoeffding"}).evidence());
        parts.add("likelihood.", detail::likelihood_evidence(counts));
        expect_says([&] { recompute(task, parts, both); }, "misspecification");
    }
}

TEST(KnowledgeConditions, SignedFeaturesHaveNoLikelihood) {
    Stream random = support::test_stream(1, 1);
    Task task;
    task.features =
        std::make_shared<const FeatureMap>(support::random_signed_features(random, {4, 2, 3}, 3, 3, 1.5));
    task.horizon = 3;
    const Counts counts(task.features, 3);
    expect_says([&] { by_likelihood(task, counts); }, "signed features");
    expect_says([&] { learn(task, counts); }, "signed features");
}

TEST(KnowledgeConditions, CountsMustBeOfTheTask) {
    const Task task = garnet_task();
    expect_says([&] { by_likelihood(task, Counts(garnet_task(6).features, 3)); }, "other successors");
    expect_says([&] { by_likelihood(task, Counts(task.features, 4)); }, "shape");
    Explorer explorer(task, {.algorithm = "likelihood"});
    explorer.ask();
    expect_says([&] { explorer.tell(Counts(garnet_task(6).features, 3)); }, "other successors");
}

TEST(KnowledgeConditions, ARegressionMustBeOfTheTask) {
    Task task = garnet_task();
    const detail::ValueRegression exact = detail::value_regression(task, 0.1);
    const WidthTable widths(exact.sets(), *task.features);
    const std::vector<detail::RegressionSet> sets = exact.solve(
        std::vector<detail::RidgeStatistics>(at(exact.sets()), detail::RidgeStatistics(exact.dimension())));
    EXPECT_NO_THROW(detail::regression_knowledge(task, exact, sets, widths.upper, 0));
    task.misspecification = 0.1;
    expect_says([&] { detail::regression_knowledge(task, exact, sets, widths.upper, 0); }, "another task");
    expect_says([&] { detail::regression_knowledge(garnet_task(6), exact, sets, widths.upper, 0); },
                "another task");
    for (const double off : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
        task.misspecification = off;
        expect_says([&] { detail::value_regression(task, 0.1); }, "misspecification");
    }
}

TEST(KnowledgeConditions, ThePapersConstantsHaveSetsOfTheirOwn) {
    const ExplorerOptions options{.algorithm = "hoeffding",
                                  .confidence = "regression?constants=paper&episodes=100,likelihood"};
    expect_says([&] { recompute(garnet_task(), {}, options); }, "paper's constants");
}

}  // namespace
}  // namespace alidade::conditions_test
