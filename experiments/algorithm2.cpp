// The paper's Algorithm 2 in full: what its search finds and what that certifies, with the printed constants
// and with ours; how good the models are that it hands over; and how useful its episodes are to others
// [docs/algorithms/bernstein.md, Measured].
//
//     algorithm2 [--quick]    up to 1e7 episodes and one seed

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/joint_search.hpp"

namespace {

using namespace alidade;

struct Instance {
    std::string name, uri;
};

const Instance dir5{"dir S5A2H5d3",
                    "builtin:garnet?states=5&actions=2&successors=5&horizon=5&features=3&seed="};
const Instance dir8{"dir S8A3H5d6",
                    "builtin:garnet?states=8&actions=3&successors=8&horizon=5&features=6&seed="};
const Instance dir4{"dir S4A2H4d2",
                    "builtin:garnet?states=4&actions=2&successors=4&horizon=4&features=2&seed="};
const Instance chain{"chain S6A2H8d5", "builtin:chain?states=6&actions=2&features=5&horizon=8&seed="};
const Instance lock{"lock S6A3H7d4", "builtin:lock?variant=reset&seed="};

/// What all runs have in common.
struct Tally {
    Index violations = 0;  ///< true losses found above what was certified
};

/// A run and what it found.
struct Outcome {
    Knowledge best;
    double found = 0;                      ///< what the last search attained: a lower end of V_K
    double relaxed = 0;                    ///< B: no search can find more
    double own_loss = 0, argmax_loss = 0;  ///< largest true loss found of both models
    double seconds = 0;                    ///< of one new policy, on average
    double certificate(const std::string& name) const {
        for (const auto& [each, value] : best.certificate.candidates)
            if (each == name) return value;
        return 0;
    }
    double least() const {
        double least = best.certificate.candidates.front().second;
        for (const auto& [name, value] : best.certificate.candidates) least = std::min(least, value);
        return least;
    }
};

/// The largest true loss that a search over rewards finds for plans on a mixture.
double loss_of(const Task& task, const MixtureModel& truth, const std::vector<Vector>& weights) {
    std::vector<ConfidenceSet> sets;
    const ParameterSet parameters = ParameterSet::of(*task.features);
    const Index p = parameters.space().dimension();
    for (const Vector& each : weights)
        sets.emplace_back(parameters,
                          estimate_with(parameters.space().coordinates(each), Matrix::Identity(p, p)), 2.0);
    return audit(certify(task, std::move(sets), {}), truth, {}).max_gap;
}

Outcome run(Tally& tally, const Instance& instance, const std::string& confidence, std::int64_t episodes,
            std::uint64_t seed, const std::string& algorithm = "bernstein") {
    const Problem problem = make_builtin(instance.uri + std::to_string(seed));
    const Task task = task_of(problem);
    const MixtureModel truth = problem.true_model();
    CountSplittingDeployer system(truth, seed);
    Exploration exploration(task, {.algorithm = algorithm, .confidence = confidence, .seed = seed});
    exploration.run(system, {.episodes = episodes});
    const Explorer& explorer = exploration.explorer();
    Outcome outcome{exploration.best()};
    outcome.seconds = exploration.timings().plan / static_cast<double>(explorer.replans());
    const AuditResult audited = audit(outcome.best, truth, {});
    outcome.own_loss = audited.max_gap;
    tally.violations += audited.violations;
    if (const auto search = support::joint_search(explorer)) {
        outcome.found = search->found;
        outcome.relaxed = search->relaxed;
        outcome.argmax_loss = loss_of(task, truth, search->weights);
    }
    return outcome;
}

/// Table A of the study: the printed constants, up to very many episodes.
void printed_constants(Tally& tally, bool quick) {
    fmt::print(
        "\nPrinted constants, told the K of their row: what the last search found (V_K, a lower end), "
        "2B, and the largest true loss found of the projected model and of the argmax\n\n");
    fmt::print(
        "| problem | K | V_K found | 2B | loss, projected | loss, argmax | safe: 2B | safe: least |\n"
        "|---|---|---|---|---|---|---|---|\n");
    for (const Instance& instance : {dir5, chain})
        for (double episodes = 1e4; episodes < (quick ? 2e7 : 2e10); episodes *= 10) {
            const auto budget = static_cast<std::int64_t>(episodes);
            const auto told = "&episodes=" + std::to_string(budget);
            const Outcome paper = run(tally, instance, "bernstein?constants=paper" + told, budget, 1);
            const Outcome safe = run(tally, instance, "bernstein?constants=safe" + told, budget, 1);
            fmt::print("| {} | {:.0e} | {:.3g} | {:.3g} | {:.2g} | {:.2g} | {:.3g} | {:.3g} |\n",
                       instance.name, episodes, paper.found, paper.certificate("relaxation"), paper.own_loss,
                       paper.argmax_loss, safe.certificate("relaxation"), safe.least());
        }
}

/// Table B: sharp constants, means over seeds.
void sharp_constants(Tally& tally, std::uint64_t seeds) {
    fmt::print(
        "\nSharp constants, means of {} seeds: the certificate `model` of each algorithm's own sets and "
        "the least candidate, the largest true loss found of the model and of the joint argmax, what "
        "the search attained over B, and milliseconds a policy\n\n",
        seeds);
    fmt::print(
        "| problem | K | hoeffding | bernstein | likelihood | bernstein, least | loss | loss, argmax | "
        "found / B | ms |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (const Instance& instance : {dir4, dir5, dir8, chain})
        for (const std::int64_t episodes : {1000, 100'000}) {
            double hoeffding = 0, own = 0, likelihood = 0, least = 0, loss = 0, argmax = 0, ratio = 0, ms = 0;
            const double share = 1 / static_cast<double>(seeds);
            for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                const Outcome outcome = run(tally, instance, "bernstein", episodes, seed);
                own += share * outcome.certificate("model");
                least += share * outcome.least();
                loss += share * outcome.own_loss;
                ratio += share * outcome.found / outcome.relaxed;
                ms += share * 1000 * outcome.seconds;
                argmax += share * run(tally, instance, "bernstein?argmax=joint", episodes, seed).argmax_loss;
                hoeffding +=
                    share * run(tally, instance, "", episodes, seed, "hoeffding").certificate("model");
                likelihood +=
                    share * run(tally, instance, "", episodes, seed, "likelihood").certificate("model");
            }
            fmt::print(
                "| {} | {:.0e} | {:.3g} | {:.3g} | {:.3g} | {:.3g} | {:.2g} | {:.2g} | {:.2f} | {:.1f} |\n",
                instance.name, static_cast<double>(episodes), hoeffding, own, likelihood, least, loss, argmax,
                ratio, ms);
        }
}

/// Table D: how useful the episodes are, by the same sets for all.
void others_data(Tally& tally) {
    fmt::print("\nThe least certificate of likelihood sets after 1e6 episodes of each algorithm, seed 1\n\n");
    fmt::print("| problem | uniform | hoeffding | bernstein | likelihood |\n|---|---|---|---|---|\n");
    for (const Instance& instance : {lock, chain, dir8}) {
        fmt::print("| {} |", instance.name);
        for (const char* algorithm : {"uniform", "hoeffding", "bernstein", "likelihood"})
            fmt::print(" {:.4f} |", run(tally, instance, "likelihood", 1'000'000, 1, algorithm).least());
        fmt::print("\n");
    }
}

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    Tally tally;
    printed_constants(tally, quick);
    sharp_constants(tally, quick ? 1 : 3);
    others_data(tally);
    fmt::print("\nTrue losses found above their certificates: {}\n", tally.violations);
    const Instance large{"S10A3H8d6",
                         "builtin:garnet?states=10&actions=3&successors=10&horizon=8&features=6&seed="};
    fmt::print("\nOne new policy at S = 10, A = 3, H = 8, d = 6: {:.0f} ms (sharp), {:.0f} ms (safe)\n",
               1000 * run(tally, large, "bernstein", 10'000, 1).seconds,
               1000 * run(tally, large, "bernstein?constants=safe&episodes=10000", 10'000, 1).seconds);
}
