#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/linear_source.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/problem.hpp"
#include "support/small_problem.hpp"

namespace alidade::lsvi_test {
namespace {

constexpr const char* random_mdp = "builtin:linear-random?states=6&actions=2&features=3&horizon=4";

Knowledge explored(const Problem& problem, const ExplorerOptions& options, std::int64_t episodes) {
    CountSplittingDeployer system(problem.true_system(), 1);
    Exploration exploration(task_of(problem), options);
    exploration.run(system, {.episodes = episodes});
    return exploration.best();
}

double candidate(const Knowledge& knowledge, const std::string& name) {
    for (const auto& [each, bound] : knowledge.certificate.candidates)
        if (each == name) return bound;
    throw InvalidArgument("no candidate " + name);
}

/// Algorithm 3 by plain loops: V_0 for R = share * n u.
double plain_value(const LearnedLinear& learned, double share) {
    const Shape& shape = learned.shape();
    std::vector<double> values(at(shape.states), 0.0);
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const double n = static_cast<double>(shape.horizon - 1 - h);
        std::vector<double> now(values.size(), 0.0);
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                double expected = 0;
                for (Index i = 0; i < learned.features().features(); ++i)
                    for (State t = 0; t < shape.states; ++t)
                        expected += learned.features().phi(pair)[i] * learned.estimate(h).measures(i, t) *
                                    values[at(t)];
                const double worth = expected + (1 + share) * n * learned.bonus(h, pair);
                now[at(s)] = std::max(now[at(s)], std::min(n, worth));
            }
        values = now;
    }
    return values[0];  // the start is state 0
}

TEST(Lsvi, ItsOwnCertificatesArePlainLoops) {
    const Problem problem = make_builtin(random_mdp);
    const Knowledge knowledge = explored(problem, {.algorithm = "lsvi"}, 20'000);
    const LearnedLinear& learned = knowledge.learned->as_linear("a test");
    EXPECT_NEAR(candidate(knowledge, "printed"), 2 * plain_value(learned, 1), 1e-7);
    EXPECT_NEAR(candidate(knowledge, "wang"), 2 * 4 * plain_value(learned, 0.25), 1e-6);
}

// What is to be learned lies behind a lock, which uniform actions seldom open.
TEST(Lsvi, OpensTheLock) {
    const Problem problem = make_builtin("builtin:linear-lock?states=8&features=5&horizon=5");
    const auto least = [&](const char* algorithm) {
        return explored(problem, {.algorithm = algorithm}, 30'000).certificate.bound;
    };
    const double uniform = least("lsvi?bonus=none");
    EXPECT_LT(least("lsvi"), 0.7 * uniform);
    EXPECT_LT(least("lsvi?bonus=wang"), 0.7 * uniform);
}

TEST(Lsvi, LearnsFromDataOfAnybodyAsFromItsOwn) {
    const Problem problem = make_builtin(random_mdp);
    CountSplittingDeployer system(problem.true_system(), 1);
    Exploration exploration(task_of(problem), {.algorithm = "lsvi"});
    exploration.run(system, {.episodes = 1000});
    const Knowledge learned = learn(task_of(problem), exploration.counts());
    EXPECT_EQ(learned.certificate.candidates, exploration.best().certificate.candidates);
    EXPECT_EQ(learned.episodes, 1000);
}

TEST(Lsvi, GoesOnWhereItWas) {
    const Problem problem = make_builtin(random_mdp);
    for (const char* replan : {"every", "doubling", "growth=0.5"}) {
        const ExplorerOptions options{.algorithm = "lsvi", .schedule = parse_schedule(replan)};
        CountSplittingDeployer one(problem.true_system(), 1), two(problem.true_system(), 1);
        Exploration whole(task_of(problem), options), first(task_of(problem), options),
            second(task_of(problem), options);
        whole.run(one, {.episodes = 60});
        int batches = 0;
        first.run(two, {.episodes = 60, .interrupted = [&] { return ++batches > 4; }});
        second.restore(first.memory(), first.counts());
        second.run(two, {.episodes = 60});
        EXPECT_EQ(second.memory(), whole.memory()) << replan;
        EXPECT_EQ(second.counts(), whole.counts()) << replan;
        EXPECT_LE(whole.explorer().replans(), whole.explorer().replan_bound()) << replan;
    }
}

// One set of measures for all steps: H-1 times the data, and one share of delta.
TEST(Lsvi, PoolsStepsWithTheSameLaws) {
    ProblemDescription parts = make_builtin(random_mdp).description();
    parts.measures.assign(4, parts.measures.front());
    const Problem apart(parts);
    parts.measures.resize(1);
    parts.homogeneous = true;
    const Problem pooled(parts);
    EXPECT_LT(explored(pooled, {}, 10'000).certificate.bound,
              0.75 * explored(apart, {}, 10'000).certificate.bound);
}

// Its constant is open, so that what it claims is no bound; the bound beside it is.
TEST(Lsvi, ThePapersConstantsProveNothing) {
    const Problem problem = make_builtin(random_mdp);
    const ExplorerOptions tiny{.algorithm = "lsvi", .confidence = "linear?constants=paper&scale=0.001"},
        large{.algorithm = "lsvi", .confidence = "linear?constants=paper&scale=1&precision=0.5"};
    const Knowledge small = explored(problem, tiny, 5000), usual = explored(problem, large, 5000);
    ASSERT_EQ(small.certificate.unproved.size(), 1U);
    EXPECT_EQ(small.certificate.unproved[0].first, "printed");
    EXPECT_LT(small.certificate.unproved[0].second, small.certificate.bound);
    EXPECT_GT(usual.certificate.unproved[0].second, usual.certificate.bound);
    // beta = c d sqrt(ln(dH / (delta eps))), in units of the range.
    const auto source = detail::make_source({"linear", {{"constants", "paper"}, {"precision", "0.5"}}},
                                            {.task = task_of(problem), .delta = 0.1});
    EXPECT_NEAR(dynamic_cast<const detail::LinearSource&>(*source).printed_radius(),
                3 * std::sqrt(std::log(12 / 0.05)), 1e-12);
    EXPECT_THROW(detail::make_source({"linear", {{"scale", "2"}}}, {.task = task_of(problem)}),
                 InvalidArgument);
}

TEST(Lsvi, DamagedMemoryIsRefused) {
    const Problem problem = make_builtin(random_mdp);
    Explorer explorer(task_of(problem), {});
    explorer.ask();
    Snapshot memory = explorer.memory();
    memory.integers.at("linear.counts").at(0) = -1;
    EXPECT_THROW(explorer.restore(memory), InvalidArgument);
    EXPECT_THROW(explorer.tell(Counts(make_builtin("builtin:linear-grid").shared_successors(), 4)),
                 InvalidArgument);
}

// A mixture whose base models are forgotten: the same system, and far more to learn.
TEST(Lsvi, ServesAMixtureAsOneHotLinearMdp) {
    const Problem mixture =
        make_builtin("builtin:garnet?states=4&actions=2&features=2&horizon=3&successors=3");
    const Problem linear = one_hot_linear(mixture);
    EXPECT_EQ(linear.pair_features().features(), 8);
    const TransitionModel one = mixture.true_system(), other = linear.true_system();
    for (Step h = 0; h < 3; ++h)
        for (Index pair = 0; pair < 8; ++pair)
            for (std::size_t j = 0; j < one.probabilities(h, pair).size(); ++j)
                EXPECT_NEAR(one.probabilities(h, pair)[j], other.probabilities(h, pair)[j], 1e-15);
    const double with = explored(mixture, {}, 20'000).certificate.bound,
                 without = explored(linear, {}, 20'000).certificate.bound;
    EXPECT_LT(with, without);
    EXPECT_LT(without, 3);
    EXPECT_THROW(one_hot_linear(linear), InvalidArgument);
    EXPECT_THROW(one_hot_linear(make_builtin("builtin:garnet?states=1000&actions=3")), InvalidArgument);
}

}  // namespace
}  // namespace alidade::lsvi_test
