// The pieces that a run spends its time in, each with the rate that a user cares about.
#include <benchmark/benchmark.h>

#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/width/width.hpp"

namespace alidade {
namespace {

const char* const small = "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&seed=11";
const char* const medium =
    "builtin:garnet?states=50&actions=4&features=5&horizon=10&successors=10&concentration=1&seed=1";
const char* const large = "builtin:garnet?states=200&actions=5&features=8&horizon=10&successors=10&seed=11";

void width_of_a_pair(benchmark::State& run) {
    const Index p = run.range(0), m = run.range(1);
    Stream random(1, Purpose::test);
    std::vector<double> generators(static_cast<std::size_t>(p * m));
    for (double& g : generators) g = sample_normal(random);
    for (Index i = 0; i < p; ++i) {
        double mean = 0;
        for (Index j = 0; j < m; ++j)
            mean += generators[static_cast<std::size_t>(j * p + i)] / static_cast<double>(m);
        for (Index j = 0; j < m; ++j) generators[static_cast<std::size_t>(j * p + i)] -= mean;
    }
    std::vector<std::uint8_t> witness(static_cast<std::size_t>(m), 0);
    Width oracle;
    for (auto _ : run) benchmark::DoNotOptimize(oracle.bracket({generators, p, m}, witness));
    run.counters["pairs/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(width_of_a_pair)->Args({4, 8})->Args({7, 10})->Args({4, 12})->Args({7, 32})->Args({15, 64});

void plan_exactly(benchmark::State& run, const char* uri) {
    const MixtureModel model = make_builtin(uri).true_model();
    const Reward reward = Reward::constant(model.shape(), 0.5);
    for (auto _ : run) benchmark::DoNotOptimize(backward_induction(model, reward));
    run.counters["plans/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(plan_exactly, small, small);
BENCHMARK_CAPTURE(plan_exactly, large, large)->Unit(benchmark::kMicrosecond);

void simulate(benchmark::State& run, const char* uri) {
    const MixtureModel truth = make_builtin(uri).true_model();
    const Policy policy = Policy::deterministic(
        truth.shape(),
        std::vector<std::int32_t>(static_cast<std::size_t>(truth.shape().horizon * truth.shape().states), 0));
    CountSplittingDeployer system(truth, 1);
    Counts counts(truth.shared_features(), truth.shape().horizon);
    std::int64_t episode = 0;
    for (auto _ : run) {
        system.deploy(policy, episode, run.range(0), counts);
        episode += run.range(0);
    }
    run.counters["episodes/s"] =
        benchmark::Counter(static_cast<double>(run.range(0)), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(simulate, small, small)->Arg(1)->Arg(1000)->Arg(1000000);
BENCHMARK_CAPTURE(simulate, large, large)->Arg(1)->Arg(1000000)->Unit(benchmark::kMicrosecond);

void replan(benchmark::State& run, const char* uri, const char* schedule) {
    const Problem problem = make_builtin(uri);
    Explorer explorer(task_of(problem), {.algorithm = "hoeffding", .schedule = parse_schedule(schedule)});
    CountSplittingDeployer system(problem.true_model(), 1);
    Counts counts(problem.shared_features(), problem.shape().horizon);
    for (auto _ : run) {
        const Deployment deployment = explorer.ask();
        counts.clear();
        system.deploy(*deployment.policy, explorer.episodes(), 1, counts);
        explorer.tell(counts);
    }
    run.counters["replans/s"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(replan, small_warm, small, "every")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replan, small_thorough, small, "growth=0.1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replan, large_warm, large, "every")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(replan, large_thorough, large, "growth=0.1")->Unit(benchmark::kMicrosecond);

/// Fits, radii and ellipsoids of all steps after 1e5 uniform episodes, from the fits of 10 % fewer.
void likelihood_of_all_steps(benchmark::State& run, const char* uri) {
    const Problem problem = make_builtin(uri);
    Counts counts(problem.shared_features(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_model(), 1);
    const Policy policy = Policy::uniform(problem.shape());
    system.deploy(policy, 0, 90'000, counts);
    std::vector<Vector> starts;
    for (const detail::LikelihoodSet& set :
         detail::likelihood_sets(detail::likelihood_rows(problem.features(), counts, false), {}))
        starts.push_back(set.fit.weights);
    system.deploy(policy, 90'000, 10'000, counts);
    for (auto _ : run)
        benchmark::DoNotOptimize(
            detail::likelihood_sets(detail::likelihood_rows(problem.features(), counts, false), {}, starts));
}
BENCHMARK_CAPTURE(likelihood_of_all_steps, medium, medium)->Unit(benchmark::kMillisecond);

void replan_by_likelihood(benchmark::State& run, const char* uri) {
    const Problem problem = make_builtin(uri);
    Explorer explorer(task_of(problem), {.algorithm = "likelihood", .schedule = parse_schedule("every")});
    CountSplittingDeployer system(problem.true_model(), 1);
    Counts counts(problem.shared_features(), problem.shape().horizon);
    const auto step = [&](std::int64_t episodes) {
        const Deployment deployment = explorer.ask();
        counts.clear();
        system.deploy(*deployment.policy, explorer.episodes(), episodes, counts);
        explorer.tell(counts);
    };
    step(10'000);
    for (auto _ : run) step(1);
}
BENCHMARK_CAPTURE(replan_by_likelihood, tiny,
                  "builtin:garnet?states=10&actions=3&features=6&horizon=8&successors=5&seed=1")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(replan_by_likelihood, medium, medium)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace alidade
