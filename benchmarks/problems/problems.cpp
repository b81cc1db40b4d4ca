// Whole runs, one line a question, each answered as a ratio against a named baseline in the same run.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/certify/span.hpp"
#include "alidade/confidence/value_regression.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/model/fisher_pass.hpp"
#include "alidade/model/planning_pass.hpp"
#include "alidade/model/sweep.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/transition_operator.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/width/width.hpp"
#include "support/plain_fisher.hpp"

namespace alidade {
namespace {

const std::string small = "builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8";
const std::string large = "builtin:garnet?states=200&actions=5&features=8&horizon=10&successors=10";

struct Outcome {
    double certificate = 0;
    std::int64_t replans = 0;
    Timings timings;
};

Outcome explore(const std::string& uri, const char* algorithm, const char* schedule, std::int64_t episodes,
                int threads = 1) {
    const Problem problem = make_builtin(uri);
    CountSplittingDeployer system(problem.true_model(), 1);
    Exploration exploration(
        task_of(problem),
        {.algorithm = algorithm, .seed = 1, .schedule = parse_schedule(schedule), .threads = threads});
    exploration.run(system, {.episodes = episodes});
    return {exploration.best().certificate.bound, exploration.explorer().replans(), exploration.timings()};
}

double median_certificate(const std::string& uri, const char* algorithm) {
    std::vector<double> values;
    for (int seed = 1; seed <= 5; ++seed)
        values.push_back(
            explore(uri + "&seed=" + std::to_string(seed), algorithm, "growth=0.1", 100'000).certificate);
    std::ranges::sort(values);
    return values[2];
}

void line(const std::string& question, double baseline, double ours, const std::string& unit) {
    fmt::print("{:<72} {:>11.4g} {:>11.4g} {:>9.3g}  {}\n", question, baseline, ours, baseline / ours, unit);
}

double seconds_of(Deployer& system, const Policy& policy, std::int64_t episodes, Counts& counts) {
    const auto begin = std::chrono::steady_clock::now();
    system.deploy(policy, 0, episodes, counts);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void simulation() {
    const MixtureModel truth = make_builtin(large + "&seed=11").true_model();
    const Shape& shape = truth.shape();
    const Policy policy = Policy::deterministic(
        shape, std::vector<std::int32_t>(static_cast<std::size_t>(shape.horizon * shape.states), 0));
    Counts counts(truth.shared_features(), shape.horizon);
    SimulatedEnvironment environment(truth);
    StepwiseDeployer stepwise(environment, 1);
    CountSplittingDeployer splitting(truth, 1);
    const double slow = seconds_of(stepwise, policy, 100'000, counts);
    line("simulate 1e5 episodes (200,5,8,10,10): step by step / count splitting", slow,
         seconds_of(splitting, policy, 100'000, counts), "s");
}

void schedules() {
    const Outcome every = explore(small + "&seed=11", "hoeffding", "every", 10'000);
    const Outcome doubling = explore(small + "&seed=11", "hoeffding", "doubling", 10'000);
    line("certificate at 1e4 episodes (20,4,5,5,8): every episode / doubling", every.certificate,
         doubling.certificate, "loss");
    line("time of the same: every episode / doubling", every.timings.total, doubling.timings.total, "s");
    line("replans of the same: every episode / doubling", static_cast<double>(every.replans),
         static_cast<double>(doubling.replans), "policies");
}

/// Algorithm 2 searches policies and rewards where Algorithm 1 makes one pass.
void searching() {
    const auto milliseconds = [](const char* algorithm) {
        const Outcome outcome =
            explore("builtin:garnet?states=10&actions=3&features=6&horizon=8&successors=10&seed=11",
                    algorithm, "growth=0.1", 10'000);
        return 1000 * outcome.timings.plan / static_cast<double>(outcome.replans);
    };
    line("a new policy at (10,3,6,8,10): bernstein / hoeffding", milliseconds("bernstein"),
         milliseconds("hoeffding"), "ms");
}

void exploration() {
    for (const auto& [name, uri] :
         {std::pair<std::string, std::string>{"lock",
                                              "builtin:lock?length=10&actions=3&features=4&outcomes=6"},
          {"riverswim", "builtin:riverswim?length=12&horizon=20&features=4"},
          {"needle", "builtin:needle?states=50&actions=4&features=5&horizon=10&successors=10&fraction=0.02"},
          {"garnet, the control", small}})
        line("certificate at 1e5 episodes, median of 5 seeds, " + name + ": uniform / hoeffding",
             median_certificate(uri, "uniform"), median_certificate(uri, "hoeffding"), "loss");
}

void threads() {
    const Outcome one = explore(large + "&seed=11", "hoeffding", "growth=0.1", 100'000'000, 1);
    const Outcome two = explore(large + "&seed=11", "hoeffding", "growth=0.1", 100'000'000, 2);
    line("1e8 episodes of (200,5,8,10,10): one thread / two threads", one.timings.total, two.timings.total,
         "s");
    line("  of which planning", one.timings.plan, two.timings.plan, "s");
    line("  of which certificates", one.timings.certify, two.timings.certify, "s");
    line("  of which simulation (one thread in both)", one.timings.simulate, two.timings.simulate, "s");
}

/// One planning pass over all steps of (2000,10,10,20,10) with three ascents from random witnesses, as pair
/// by pair, with lanes, and with lanes on two threads. Repeats take turns and the least time counts: what
/// else the machine does adds to all three.
void planning() {
    const Problem problem =
        make_builtin("builtin:garnet?states=2000&actions=10&features=10&horizon=20&successors=10&seed=11");
    const FeatureMap& features = problem.features();
    const TangentFeatures tangent(features, problem.parameters().space());
    const Index p = tangent.space.dimension();
    detail::RidgeStatistics statistics(p);
    statistics.gram = 100 * Matrix::Identity(p, p);
    const auto sets = detail::regression_sets(problem.shared_features(), std::vector(1, statistics), 0.1);
    detail::PlanningPass pass(features, tangent, 1);
    std::vector<std::uint8_t> witness(static_cast<std::size_t>(features.entries()));
    for (std::size_t e = 0; e < witness.size(); ++e)
        witness[e] = static_cast<std::uint8_t>((e * 2654435761U >> 16) & 1U);
    const std::vector<double> next(2000, 0.5);
    std::vector<double> values(static_cast<std::size_t>(features.pairs()));
    const detail::PlanningPass::Options ways[] = {{.width = detail::LaneWidth::one}, {}, {.threads = 2}};
    double least[3] = {1e9, 1e9, 1e9};
    for (int repeat = 0; repeat < 15; ++repeat)
        for (std::size_t way = 0; way < 3; ++way) {
            pass.take_witnesses(0, witness);
            const auto begin = std::chrono::steady_clock::now();
            for (int h = 0; h < 19; ++h)
                pass.run(
                    {0, &sets[0].estimate().inverse_factor, &sets[0].projection().coordinates, 1.0, next, 3},
                    values, ways[way]);
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
            least[way] = std::min(least[way], time.count());
        }
    line("planning pass (2000,10,10,20,10): pair by pair / eight lanes", least[0], least[1], "s");
    line("the same with lanes: one thread / two threads", least[1], least[2], "s");
}

/// The least time of each way, in turns: what else the machine does adds to all of them.
template <std::size_t ways>
std::array<double, ways> least_seconds(int repeats, const std::function<void()> (&way)[ways]) {
    std::array<double, ways> least;
    least.fill(1e9);
    for (int repeat = 0; repeat < repeats; ++repeat)
        for (std::size_t w = 0; w < ways; ++w) {
            const auto begin = std::chrono::steady_clock::now();
            way[w]();
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
            least[w] = std::min(least[w], time.count());
        }
    return least;
}

/// Widths of all pairs by trying every vertex: pair by pair, as the oracle does, and in lanes on one thread.
void widths() {
    const Problem problem =
        make_builtin("builtin:garnet?states=500&actions=10&features=10&horizon=2&successors=10&seed=11");
    const FeatureMap& features = problem.features();
    const TangentFeatures tangent(features, problem.parameters().space());
    const Index p = tangent.space.dimension();
    const Matrix inverse = Matrix::Identity(p, p);
    std::vector<double> lower(at(features.pairs())), upper = lower, generators;
    std::vector<std::uint8_t> witness(at(features.entries()));
    const auto by_oracle = [&](Index pair) {
        const Index first = features.first_entry(pair), m = features.successors(pair);
        generators.clear();
        for (Index j = 0; j < m; ++j) {
            const Vector psi = tangent.psi(first + j);
            generators.insert(generators.end(), psi.begin(), psi.end());
        }
        const WidthBracket bracket =
            Width().bracket({generators, p, m}, std::span(witness).subspan(at(first), at(m)));
        lower[at(pair)] = bracket.lower;
        upper[at(pair)] = bracket.upper;
    };
    const auto local = local_operator(features, 1);
    const std::function<void()> ways[] = {
        [&] {
            for (Index pair = 0; pair < features.pairs(); ++pair) by_oracle(pair);
        },
        [&] {
            local->widths({&tangent, &inverse, 12, [&] { return by_oracle; }, lower, upper, witness});
        }};
    const auto least = least_seconds(10, ways);
    line("widths by trying vertices, 5,000 pairs of 10 successors: pair by pair / lanes", least[0], least[1],
         "s");
}

/// The planning pass of the likelihood explorer over all steps, each with weights and a metric of its own:
/// pair by pair with Eigen, by lanes, and by lanes on two threads.
void fisher_planning() {
    const Problem problem = make_builtin(large + "&seed=11");
    const Shape& shape = problem.shape();
    const FeatureMap& features = problem.features();
    const TangentFeatures tangent(features, problem.parameters().space());
    const Index p = tangent.space.dimension();
    const Vector weights = Vector::Constant(features.features(), 1.0 / static_cast<double>(p + 1));
    const Matrix factor = 10 * Matrix::Identity(p, p);
    const detail::FisherPass pass(features, tangent);
    std::vector<double> values(at(shape.horizon * shape.states), 0.0), bonus(at(shape.pairs())),
        worth = bonus;
    const auto row = [&](Step h) { return values.data() + h * shape.states; };
    const auto maximise = [&](Step h, State first, State last) {
        for (State s = first; s < last; ++s)
            row(h)[s] =
                *std::max_element(&worth[at(shape.pair(s, 0))], &worth[at(shape.pair(s, 0))] + shape.actions);
    };
    const auto by_pairs = [&] {
        for (Step h = shape.horizon - 2; h >= 0; --h) {
            bonus = support::plain_bonuses(features, tangent, weights, factor, detail::FisherBonus::sqrt, 8);
            worth = support::plain_backup(features, weights, 1.0, bonus, {row(h + 1), at(shape.states)});
            maximise(h, 0, shape.states);
        }
    };
    const auto by_lanes = [&](int threads, detail::LaneWidth width) {
        const detail::Sweep sweep(shape, threads, 128);
        sweep.backwards(
            shape.horizon - 2, [&] { return pass.scratch(); },
            [&](std::vector<double>& scratch, Step h, State first, State last) {
                const detail::FisherPass::Chunk chunk{shape.pair(first, 0), shape.pair(last, 0), width};
                pass.bonuses({&weights, &factor, detail::FisherBonus::sqrt, 8}, chunk, scratch, bonus);
                pass.backup(weights, 1.0, bonus, {row(h + 1), at(shape.states)}, chunk, scratch, worth);
                maximise(h, first, last);
            });
    };
    const detail::LaneWidth widest = detail::widest_lanes(), one = detail::LaneWidth::one;
    const std::function<void()> ways[] = {by_pairs, [&] { by_lanes(1, widest); },
                                          [&] { by_lanes(2, widest); }, [&] { by_lanes(1, one); }};
    const auto least = least_seconds(15, ways);
    line("likelihood's planning pass (200,5,8,10,10): pair by pair / eight lanes", least[0], least[1], "s");
    line("the same: pair by pair / without vectors (the fallback)", least[0], least[3], "s");
    line("the same with lanes: one thread / two threads", least[1], least[2], "s");
}

/// The recursions of a reward-free certificate after 1e5 uniform episodes, one thread against two.
void recursions() {
    const Problem problem = make_builtin(large + "&seed=11");
    Counts counts(problem.shared_features(), problem.shape().horizon);
    CountSplittingDeployer system(problem.true_model(), 1);
    system.deploy(Policy::uniform(problem.shape()), 0, 100'000, counts);
    const Knowledge knowledge = learn(task_of(problem), counts);
    const LearnedModel& learned = *knowledge.learned;
    const DeviationTable deviations = DeviationTable::of(learned);
    const std::function<void()> coupling[] = {
        [&] { coupling_recursion(learned, deviations, {.threads = 1}); },
        [&] { coupling_recursion(learned, deviations, {.threads = 2}); }};
    const std::function<void()> span[] = {[&] { detail::span_recursion(learned, deviations, 1); },
                                          [&] { detail::span_recursion(learned, deviations, 2); }};
    const auto coupled = least_seconds(25, coupling), spanned = least_seconds(25, span);
    line("recursion `coupling` (200,5,8,10,10): one thread / two threads", coupled[0], coupled[1], "s");
    line("recursion `span` of the same: one thread / two threads", spanned[0], spanned[1], "s");
    const Reward reward = make_reward(problem, "dense?seed=1");
    const Policy policy = backward_induction(learned.model(), reward).policy;
    const std::function<void()> one_reward[] = {
        [&] { certify_reward(learned, deviations, reward, policy, 1); },
        [&] { certify_reward(learned, deviations, reward, policy, 2); }};
    const auto certified = least_seconds(5, one_reward);
    line("certificate of one reward, of the same: one thread / two threads", certified[0], certified[1], "s");
}

}  // namespace
}  // namespace alidade

int main() {
    fmt::print("{:<72} {:>11} {:>11} {:>9}\n", "question: baseline / ours", "baseline", "ours", "ratio");
    alidade::simulation();
    alidade::planning();
    alidade::widths();
    alidade::fisher_planning();
    alidade::recursions();
    alidade::schedules();
    alidade::searching();
    alidade::exploration();
    alidade::threads();
}
