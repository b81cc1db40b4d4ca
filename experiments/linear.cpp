// Linear MDPs: episodes to a certificate, the plug-in model against Algorithm 4, u against u/H, exploring
// against uniform actions, and what a policy costs. The tables of docs/algorithms/lsvi.md.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/linear_plan.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"

namespace {

using namespace alidade;

struct Sizes {
    Index states, actions, features, horizon;

    std::string uri(const std::string& family = "linear-random") const {
        return fmt::format("builtin:{}?states={}&actions={}&features={}&horizon={}&seed=1", family, states,
                           actions, features, horizon);
    }
    std::string text() const { return fmt::format("{},{},{},{}", states, actions, features, horizon); }
};

double candidate(const Knowledge& knowledge, const std::string& name) {
    for (const auto& [each, bound] : knowledge.certificate.candidates)
        if (each == name) return bound;
    return knowledge.certificate.bound;
}

/// Runs, by tenths, until each of the named candidates ("least" is the smallest of all) is at most `target`.
std::vector<std::int64_t> episodes_to(const std::string& uri, const std::string& algorithm, double target,
                                      const std::vector<std::string>& names, std::int64_t most) {
    const Problem problem = make_builtin(uri);
    CountSplittingDeployer system(problem.true_system(), 1);
    Exploration exploration(task_of(problem), {.algorithm = algorithm, .seed = 1});
    std::vector<std::int64_t> found(names.size(), 0);
    for (std::int64_t episodes = 1000; episodes <= most;
         episodes += std::max<std::int64_t>(1, episodes / 10)) {
        exploration.run(system, {.episodes = episodes});
        const Knowledge now = exploration.explorer().knowledge();
        for (std::size_t i = 0; i < names.size(); ++i)
            if (found[i] == 0 && candidate(now, names[i]) <= target) found[i] = episodes;
        if (std::ranges::count(found, 0) == 0) break;
    }
    return found;
}

void certificates() {
    fmt::print("Episodes to a certificate of H/10, delta = 0.1, seed 1\n\n");
    fmt::print("{:>12} {:>12} {:>12} {:>12}\n", "S,A,d,H", "least", "coupling", "model");
    std::vector<double> of_horizon, steps;
    for (const Sizes& sizes : {Sizes{10, 3, 3, 5}, Sizes{10, 3, 5, 5}, Sizes{20, 4, 5, 5},
                               Sizes{10, 3, 3, 10}, Sizes{10, 3, 3, 20}}) {
        const auto k = episodes_to(sizes.uri(), "lsvi", 0.1 * static_cast<double>(sizes.horizon),
                                   {"least", "coupling", "model"}, 20'000'000);
        fmt::print("{:>12} {:>12} {:>12} {:>12}\n", sizes.text(), k[0], k[1], k[2]);
        if (sizes.features == 3) {
            of_horizon.push_back(static_cast<double>(k[2]));
            steps.push_back(static_cast<double>(sizes.horizon));
        }
    }
    fmt::print("slope against H of `model`: {:.2f} (5 to 10), {:.2f} (10 to 20)\n\n",
               std::log2(of_horizon[1] / of_horizon[0]), std::log2(of_horizon[2] / of_horizon[1]));
}

void against_algorithm_4(bool quick) {
    fmt::print(
        "The plug-in model against Algorithm 4: certificates, and the worst true loss of 60 rewards\n\n");
    fmt::print("{:>12} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9} {:>9}\n", "S,A,d,H", "K", "plug-in", "coupling",
               "Alg. 4", "ratio", "loss", "loss 4");
    for (const Sizes& sizes : {Sizes{10, 3, 3, 5}, Sizes{20, 4, 5, 5}, Sizes{10, 3, 3, 10}}) {
        const Problem problem = make_builtin(sizes.uri());
        const TransitionModel truth = problem.true_system();
        CountSplittingDeployer system(truth, 1);
        Exploration exploration(task_of(problem), {.seed = 1});
        for (const std::int64_t episodes : {std::int64_t{100'000}, std::int64_t{1'000'000}}) {
            if (quick && episodes > 100'000) continue;
            exploration.run(system, {.episodes = episodes});
            const Knowledge now = exploration.explorer().knowledge();
            const LearnedLinear& learned = now.learned->as_linear("a table");
            double plug_in = 0, optimistic = 0;
            for (int i = 0; i < 60; ++i) {
                const char* kind = i % 3 == 0 ? "dense" : i % 3 == 1 ? "binary" : "reach";
                const Reward reward = make_reward(problem, fmt::format("{}?seed={}", kind, i));
                const double best = backward_induction(truth, reward).value;
                const auto loss = [&](const Policy& policy) {
                    return best - evaluate(truth, policy, reward).value;
                };
                plug_in = std::max(plug_in, loss(backward_induction(learned.model(), reward).policy));
                optimistic = std::max(optimistic, loss(linear_plan(learned, reward).policy));
            }
            const double own = linear_plan_bound(learned);
            fmt::print("{:>12} {:>9} {:>9.4f} {:>9.4f} {:>9.4f} {:>8.2f} {:>9.2g} {:>9.2g}\n", sizes.text(),
                       episodes, now.certificate.bound, candidate(now, "coupling"), own,
                       candidate(now, "coupling") / own, plug_in, optimistic);
        }
    }
    fmt::print("(ratio: coupling to Algorithm 4's own)\n\n");
}

void rewards_of_exploration() {
    fmt::print("R = u against R = u/H: episodes to H/10 by the same certificate, and their own at 1e5\n\n");
    fmt::print("{:>4} {:>12} {:>12} {:>10} {:>10} {:>8}\n", "H", "u", "u/H", "2V", "2HV", "ratio");
    for (const Index horizon : {5, 10, 20}) {
        const Sizes sizes{10, 3, 3, horizon};
        const double target = 0.1 * static_cast<double>(horizon);
        const auto one = episodes_to(sizes.uri(), "lsvi", target, {"coupling"}, 20'000'000);
        const auto other = episodes_to(sizes.uri(), "lsvi?bonus=wang", target, {"coupling"}, 20'000'000);
        const Problem problem = make_builtin(sizes.uri());
        CountSplittingDeployer system(problem.true_system(), 1);
        Exploration exploration(task_of(problem), {.seed = 1});
        exploration.run(system, {.episodes = 10'000'000});
        const Knowledge now = exploration.explorer().knowledge();
        const double printed = candidate(now, "printed"), wang = candidate(now, "wang");
        fmt::print("{:>4} {:>12} {:>12} {:>10.3f} {:>10.3f} {:>8.2f}\n", horizon, one[0], other[0], printed,
                   wang, wang / printed);
    }
    fmt::print("(2V and 2HV after 1e7 episodes)\n\n");
}

void lock() {
    const Sizes sizes{20, 4, 5, 5};
    const auto explored =
        episodes_to(sizes.uri("linear-lock"), "lsvi", 0.5, {"least", "coupling"}, 50'000'000);
    const auto uniform =
        episodes_to(sizes.uri("linear-lock"), "lsvi?bonus=none", 0.5, {"least", "coupling"}, 50'000'000);
    fmt::print(
        "linear-lock {}: episodes to 0.5\n  least: {} exploring, {} uniform, ratio {:.1f}\n"
        "  coupling: {} exploring, {} uniform, ratio {:.1f}\n\n",
        sizes.text(), explored[0], uniform[0],
        static_cast<double>(uniform[0]) / static_cast<double>(explored[0]), explored[1], uniform[1],
        static_cast<double>(uniform[1]) / static_cast<double>(explored[1]));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void cost(bool quick) {
    fmt::print("Microseconds an episode, linear-random 10,3,3,5, certificates apart\n\n");
    const Problem problem = make_builtin(Sizes{10, 3, 3, 5}.uri());
    for (const char* replan : {"every", "growth=0.1"})
        for (const std::int64_t episodes : {100LL, 10'000LL, 1'000'000LL}) {
            if (quick && episodes > 10'000) continue;
            CountSplittingDeployer system(problem.true_system(), 1);
            Explorer explorer(task_of(problem), {.schedule = parse_schedule(replan)});
            Counts batch(problem.shared_successors(), 5);
            const auto begin = std::chrono::steady_clock::now();
            for (std::int64_t done = 0; done < episodes;) {
                const Deployment next = explorer.ask();
                const std::int64_t now = std::min(next.episodes, episodes - done);
                batch.clear();
                system.deploy(*next.policy, done, now, batch);
                explorer.tell(batch);
                done += now;
            }
            fmt::print("  {:>10} {:>9} episodes: {:.3f} us\n", replan, episodes,
                       1e6 * seconds_since(begin) / static_cast<double>(episodes));
        }
    const Problem large = make_builtin(Sizes{200, 5, 10, 10}.uri());
    CountSplittingDeployer system(large.true_system(), 1);
    Explorer explorer(task_of(large), {});
    Counts batch(large.shared_successors(), 10);
    double least = 1e9;
    std::int64_t done = 0;
    for (int i = 0; i < 20; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        const Deployment next = explorer.ask();
        least = std::min(least, seconds_since(begin));
        batch.clear();
        system.deploy(*next.policy, done, 20'000, batch);
        done += 20'000;
        explorer.tell(batch);
    }
    fmt::print("  a new policy at S = 200, A = 5, d = 10, H = 10: {:.2f} ms\n", 1e3 * least);
}

}  // namespace

int main(int argc, char** argv) {
    const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
    certificates();
    against_algorithm_4(quick);
    rewards_of_exploration();
    lock();
    cost(quick);
    return 0;
}
