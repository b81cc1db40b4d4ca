// Atlases of the inventory after ten thousand episodes: what making one takes on one thread and on two, and
// what a look-up takes among ten thousand cells.
#include <benchmark/benchmark.h>

#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {
namespace {

template <class Pays>
Reward reward_where(const Shape& shape, const Pays& pays) {
    std::vector<double> values;
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) values.push_back(pays(h, s, a) ? 1.0 : 0.0);
    return {shape, std::move(values)};
}

/// What is known after the episodes, and five objectives, of which the first ones are taken.
struct Warehouse {
    Problem problem = make_builtin("builtin:inventory?seed=1");
    CountSplittingDeployer system{problem.true_model(), 1};
    Exploration exploration{task_of(problem), {.algorithm = "likelihood", .seed = 1}};

    Warehouse() { exploration.run(system, {.episodes = 10'000}); }

    Objectives objectives(std::size_t count) const {
        const Shape& shape = problem.shape();
        std::vector<Reward> rewards{
            make_reward(problem, "service-level"), make_reward(problem, "holding-cost"),
            reward_where(shape, [](Step, State, Action a) { return a == 0; }),
            reward_where(
                shape, [&](Step h, State s, Action) { return h + 1 == shape.horizon && s >= 8 && s <= 13; }),
            reward_where(shape, [](Step, State s, Action) { return s >= 3; })};
        rewards.erase(rewards.begin() + static_cast<std::ptrdiff_t>(count), rewards.end());
        return Objectives(std::move(rewards));
    }
};

Warehouse& warehouse() {
    static Warehouse known;
    return known;
}

void make_atlas_on(benchmark::State& run) {
    const Objectives objectives = warehouse().objectives(3);
    const AtlasOptions options{.loss = 0.021, .threads = static_cast<int>(run.range(0))};
    Index certificates = 0;
    for (auto _ : run)
        certificates = make_atlas(warehouse().exploration.best(), objectives, options).certificates;
    run.counters["certificates"] = static_cast<double>(certificates);
}
BENCHMARK(make_atlas_on)->ArgName("threads")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

void look_up(benchmark::State& run) {
    // The function is called several times, until its time is known.
    static const Atlas atlas = make_atlas(warehouse().exploration.best(), warehouse().objectives(5),
                                          {.loss = 0.06, .certificates = 100'000, .threads = 2});
    if (atlas.cells.size() < 10'000) return run.SkipWithError("fewer than ten thousand cells");
    Stream random(1, Purpose::test);
    std::vector<std::vector<double>> weights;
    for (int n = 0; n < 1000; ++n) weights.push_back(sample_dirichlet(random, atlas.objectives, 1.0));
    std::size_t next = 0;
    for (auto _ : run) benchmark::DoNotOptimize(atlas.at(weights[++next % weights.size()]));
    run.counters["cells"] = static_cast<double>(atlas.cells.size());
}
BENCHMARK(look_up)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace alidade
