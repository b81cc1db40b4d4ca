// What it costs that a system is another program: the walk of examples/systems, stepped in this process,
// stepped as a child and run as a child in batches; and how far workers help where an episode takes 20 ms.
// `us_a_step` is the time of a step.
#include <benchmark/benchmark.h>

#include <string>

#include "alidade/environment/system_deployer.hpp"
#include "alidade/process/command_system.hpp"
#include "alidade/random/samplers.hpp"
#include "walk.hpp"

namespace {

using namespace alidade;

constexpr Index states = 20, horizon = 50;

/// The same system in this process.
class InProcess final : public Environment {
public:
    const Shape& shape() const override { return shape_; }
    State reset(Stream& random) override {
        walk_ = walk::Walk(static_cast<int>(states), random.next());
        return walk_.state();
    }
    State step(Action action, Stream&) override {
        walk_.step(static_cast<int>(action));
        return walk_.state();
    }

private:
    Shape shape_{states, 2, horizon};
    walk::Walk walk_{1, 0};
};

Task walk_task(Index steps) {
    BaseKernel kernel{.rows = 2 * states, .columns = states, .offsets = {0}};
    for (State s = 0; s < states; ++s) {
        const auto right = static_cast<std::int32_t>(s + 1 < states ? s + 1 : s);
        kernel.targets.insert(kernel.targets.end(), {0, 0, right});
        kernel.probabilities.insert(kernel.probabilities.end(), {1, 0.35, 0.65});
        kernel.offsets.insert(kernel.offsets.end(), {3 * s + 1, 3 * s + 3});
    }
    return {.features =
                std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states, 2, {&kernel, 1})),
            .horizon = steps};
}

std::string walk_command(Index steps, int microseconds) {
    return fmt::format("{} {} {} {}", ALIDADE_WALK, states, steps, microseconds);
}

/// Actions that only we can draw: the child is stepped.
Policy drawn(const Shape& shape) {
    return Policy::uniform(shape);
}

Policy fixed(const Shape& shape) {
    return Policy::deterministic(
        shape, std::vector<std::int32_t>(static_cast<std::size_t>(shape.horizon * shape.states), 1));
}

void run(benchmark::State& state, System& system, const Policy& policy, std::int64_t episodes) {
    std::int64_t first = 0, steps = 0;
    const auto accept = [&](std::span<const SystemEpisode> batch) {
        for (const SystemEpisode& episode : batch) steps += std::ssize(episode.states);
    };
    system.run(policy, 0, 100, accept, {});  // all that is started once
    first = 100;
    steps = 0;
    for (auto _ : state) {
        system.run(policy, first, episodes, accept, {});
        first += episodes;
    }
    using benchmark::Counter;
    state.counters["us_a_step"] =
        Counter(static_cast<double>(steps) * 1e-6, Counter::kIsRate | Counter::kInvert);
    state.counters["episodes_a_second"] = Counter(static_cast<double>(first - 100), Counter::kIsRate);
}

void in_process(benchmark::State& state, bool random_actions) {
    InProcess environment;
    StepwiseSystem system(environment, 1);
    run(state, system, random_actions ? drawn(system.shape()) : fixed(system.shape()), 1000);
}

void child(benchmark::State& state, bool random_actions) {
    CommandSystem system(walk_task(horizon), {.command = walk_command(horizon, 0), .seed = 1});
    run(state, system, random_actions ? drawn(system.shape()) : fixed(system.shape()),
        random_actions ? 200 : 20'000);
}

void slow_child(benchmark::State& state) {
    constexpr Index steps = 10;
    CommandSystem system(walk_task(steps),
                         {.command = walk_command(steps, 20'000), .seed = 1, .workers = state.range(0)});
    run(state, system, drawn(system.shape()), 200);
}

}  // namespace

BENCHMARK_CAPTURE(in_process, stepwise, true)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(child, stepwise, true)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(in_process, fixed_policy, false)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(child, in_batches, false)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(slow_child)->Arg(1)->Arg(8)->Iterations(1)->UseRealTime()->Unit(benchmark::kMillisecond);
