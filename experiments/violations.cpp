// Certificates of likelihood sets against the truth [likelihood §8.1]: rewards of all kinds, and rewards
// found by climbing towards the largest true loss, on every family with base models. A violation is a true
// loss above its own bound or above the reward-free certificate, or a value outside its interval.
//
//     violations [--quick]    two seeds instead of twenty

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"

namespace {

using namespace alidade;

const std::vector<std::string> problems{
    "garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1",
    "garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=0.3",
    "needle?states=10&actions=3&features=4&horizon=5&successors=5",
    "riverswim?length=6&horizon=8",
    "riverswim?variant=halves&length=6&horizon=8",
    "lock?length=5",
    "lock?variant=deep&length=5&horizon=7",
    "lock?variant=reset",
    "chain?",
    "inventory?",
    "gridworld?width=3&height=3",
};

const std::vector<std::int64_t> checkpoints{10, 100, 1000, 10'000, 100'000};

struct Tally {
    Index random = 0;      ///< rewards checked against their own certificate and the reward-free one
    Index climbed = 0;     ///< further ones on the way up: against the reward-free one, and those that went
                           ///< higher against their own too
    Index violations = 0;  ///< of all these
    Index lost = 0;        ///< runs in which the truth was outside a set at some checkpoint
    double closest = 0;    ///< largest true loss over the reward-free certificate, where that is below H
};

Tally run(const std::string& name, std::uint64_t seed) {
    const std::string separator = name.back() == '?' ? "" : "&";
    const Problem problem = make_builtin("builtin:" + name + separator + "seed=" + std::to_string(seed));
    const MixtureModel truth = problem.true_model();
    CountSplittingDeployer system(truth, seed);
    ExplorerOptions options{.algorithm = "likelihood", .delta = 0.1, .seed = seed};
    if (seed % 2 == 0) options.confidence = "likelihood?prequential=true";
    Exploration exploration(task_of(problem), options);
    Tally tally;
    bool covered = true;
    for (const std::int64_t episodes : checkpoints) {
        exploration.run(system, {.episodes = episodes});
        const AuditOptions effort{.rewards = 100, .climb_steps = 100, .climb_starts = 2, .seed = seed};
        const AuditResult result = audit(exploration.best(), truth, effort);
        tally.random += effort.rewards;
        tally.climbed += result.rewards - effort.rewards;
        tally.violations += result.violations;
        covered = covered && result.truth_in_confidence_set;
        if (!exploration.best().certificate.vacuous && result.reward_free > 0)
            tally.closest = std::max(tally.closest, result.max_gap / result.reward_free);
    }
    tally.lost = covered ? 0 : 1;
    return tally;
}

Tally over_seeds(const std::string& name, std::uint64_t seeds) {
    std::vector<Tally> each(seeds);
    const unsigned workers = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::jthread> team;
    for (unsigned worker = 0; worker < workers; ++worker)
        team.emplace_back([&, worker] {
            for (std::uint64_t k = worker; k < seeds; k += workers) each[k] = run(name, k + 1);
        });
    team.clear();
    Tally sum;
    for (const Tally& one : each) {
        sum.random += one.random;
        sum.climbed += one.climbed;
        sum.violations += one.violations;
        sum.lost += one.lost;
        sum.closest = std::max(sum.closest, one.closest);
    }
    return sum;
}

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    const std::uint64_t seeds = quick ? 2 : 20;
    fmt::print("{} runs a problem, {} checkpoints of 10 to 1e5 episodes each\n\n", seeds, checkpoints.size());
    fmt::print(
        "| problem | random rewards | climbed | violations | runs with the truth outside | largest loss / "
        "reward-free |\n|---|---:|---:|---:|---:|---:|\n");
    Tally all;
    for (const std::string& name : problems) {
        const Tally tally = over_seeds(name, seeds);
        fmt::print("| `{}` | {} | {} | {} | {} | {:.2g} |\n", name, tally.random, tally.climbed,
                   tally.violations, tally.lost, tally.closest);
        std::fflush(stdout);
        all.random += tally.random;
        all.climbed += tally.climbed;
        all.violations += tally.violations;
        all.lost += tally.lost;
        all.closest = std::max(all.closest, tally.closest);
    }
    fmt::print("| all | {} | {} | {} | {} | {:.2g} |\n", all.random, all.climbed, all.violations, all.lost,
               all.closest);
    return all.violations > 0 ? 1 : 0;
}
