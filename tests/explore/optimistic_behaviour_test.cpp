#include "alidade/explore/optimistic_behaviour.hpp"

#include <gtest/gtest.h>

#include <set>

#include "alidade/environment/deployment.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/random_models.hpp"
#include "support/regression_of.hpp"

namespace alidade::optimistic_behaviour_test {
namespace {

Problem small_garnet() {
    return make_builtin("builtin:garnet?states=6&actions=3&features=3&horizon=4&successors=4&seed=3");
}

TEST(OptimisticBehaviour, GivesTheSameDeploymentUntilItIsTold) {
    const Problem problem = small_garnet();
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding"});
    const Deployment first = explorer.ask(), again = explorer.ask();
    EXPECT_EQ(*first.policy, *again.policy);
    EXPECT_EQ(first.episodes, again.episodes);
    EXPECT_EQ(explorer.replans(), 1);
}

// The regression as the paper writes it, row by row, against the batched one [paper, Alg. 1 lines 6-7].
TEST(OptimisticBehaviour, RegressesOnTheFeaturesThatWereFrozenWhenTheDataCameIn) {
    const Problem problem = small_garnet();
    const MixtureModel truth = problem.true_model();
    const FeatureMap& features = problem.features();
    const TangentSpace space = problem.parameters().space();
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding", .schedule = parse_schedule("growth=0.5")});
    SimulatedEnvironment system(truth);
    std::vector<Matrix> gram(3, Matrix::Zero(2, 2));
    std::vector<Vector> moment(3, Vector::Zero(2));
    std::int64_t episode = 0;
    for (int round = 0; round < 12; ++round) {
        const Deployment deployment = explorer.ask();
        const Snapshot frozen = explorer.memory();
        const auto& witness = frozen.bytes.at("regression.witness");
        Counts counts(problem.shared_features(), 4);
        for (std::int64_t k = 0; k < deployment.episodes; ++k) {
            const Episode run = run_episode(system, *deployment.policy, 7, episode++);
            counts.add(run);
            for (std::size_t h = 0; h < 3; ++h) {
                const Index pair = features.pair(run.states[h], run.actions[h]);
                std::vector<double> value(6, 0.0);
                for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
                    value[static_cast<std::size_t>(features.targets()[static_cast<std::size_t>(e)])] =
                        witness[h * static_cast<std::size_t>(features.entries()) +
                                static_cast<std::size_t>(e)];
                const Vector phi = features.phi_value(pair, value);
                const Vector x = space.basis.transpose() * phi;
                gram[h] += x * x.transpose();
                moment[h] += x * (value[static_cast<std::size_t>(run.states[h + 1])] - phi.dot(space.centre));
            }
        }
        explorer.tell(counts);
    }
    for (std::size_t h = 0; h < 3; ++h) {
        const Matrix got =
            support::regression_of(explorer).statistics()[h].gram.selfadjointView<Eigen::Lower>();
        EXPECT_LT((got - gram[h]).norm(), 1e-10 * (1 + gram[h].norm()));
        EXPECT_LT((support::regression_of(explorer).statistics()[h].moment - moment[h]).norm(),
                  1e-10 * (1 + moment[h].norm()));
        EXPECT_EQ(support::regression_of(explorer).statistics()[h].observations, episode);
    }
}

TEST(OptimisticBehaviour, PoolsAllStepsOfAHomogeneousProblem) {
    ProblemDescription parts = small_garnet().description();
    parts.homogeneous = true;
    parts.truth = Matrix(parts.truth->topRows(1));
    const Problem problem(parts);
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding"});
    CountSplittingDeployer system(problem.true_model(), 1);
    for (int round = 0; round < 20; ++round) {
        const Deployment deployment = explorer.ask();
        Counts counts(problem.shared_features(), 4);
        system.deploy(*deployment.policy, explorer.episodes(), deployment.episodes, counts);
        explorer.tell(counts);
    }
    ASSERT_EQ(support::regression_of(explorer).statistics().size(), 1u);
    EXPECT_EQ(support::regression_of(explorer).statistics()[0].observations, 3 * explorer.episodes());
    EXPECT_EQ(explorer.knowledge().mixture().sets().size(), 1u);
}

TEST(OptimisticBehaviour, DoesNotBreakTiesByIndexWhileValuesAreClipped) {
    // Before any data every value is clipped. On the lock only the key leads anywhere; the first policy must
    // already take it at every position, in whatever order the actions are numbered.
    const Problem problem = make_builtin("builtin:lock?length=6&actions=3&features=4&outcomes=6&seed=2");
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding"});
    const Deployment deployment = explorer.ask();
    const MixtureModel truth = problem.true_model();
    State s = 0;
    for (Step h = 0; h < 5; ++h) {
        const Index pair = problem.shape().pair(s, deployment.policy->action(h, s));
        ASSERT_EQ(problem.features().successors(pair), 1);
        EXPECT_EQ(problem.features().targets(pair)[0], s + 1) << "step " << h;
        s = problem.features().targets(pair)[0];
    }
}

TEST(OptimisticBehaviour, DrawsExactTies) {
    // Base models that agree everywhere: nothing to learn, all actions tie, and all get their share.
    Stream random = support::test_stream(1);
    auto kernels = support::random_kernels(random, {.shape = {40, 4, 3}, .features = 2, .successors = 3});
    kernels[1] = kernels[0];
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(40, 4, kernels));
    Explorer explorer({features, 3, StartLaw(0), false}, {.algorithm = "hoeffding"});
    const Deployment deployment = explorer.ask();
    std::set<Action> taken;
    for (State s = 0; s < 40; ++s) taken.insert(deployment.policy->action(0, s));
    EXPECT_EQ(taken.size(), 4u);  // missed with probability below 4 (3/4)^40 = 4e-5, fixed seed
}

TEST(OptimisticBehaviour, RefusesBadOptionsAndForeignCounts) {
    const Problem problem = small_garnet();
    EXPECT_THROW(Explorer(task_of(problem), {.algorithm = "hoeffding", .delta = 0}), InvalidArgument);
    EXPECT_THROW(Explorer(task_of(problem), {.algorithm = "hoeffding", .delta = 1}), InvalidArgument);
    EXPECT_THROW(Explorer(task_of(problem), {.algorithm = "hoeffding", .threads = 0}), InvalidArgument);
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding"});
    EXPECT_THROW(explorer.tell(Counts(problem.shared_features(), 4)), InvalidArgument);  // nothing asked
    explorer.ask();
    EXPECT_THROW(explorer.tell(Counts(problem.shared_features(), 5)), InvalidArgument);
    EXPECT_THROW(explorer.restore({}), InvalidArgument);
    EXPECT_THROW(find_behaviour("nobody"), InvalidArgument);
}

}  // namespace
}  // namespace alidade::optimistic_behaviour_test
