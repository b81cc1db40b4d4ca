// Atlases against members of their confidence sets that climb to where the plans lose most, and how near to
// such losses the bounds are.
//
//     atlas_attack [--quick]       small problems and 1e4 episodes alone
//
// For one member the loss of a plan is convex in the weights, so that it is largest at corners of cells; for
// one policy and one better policy it is linear in the weights of each step's base models. So members go to
// the boundary of the sets in the direction in which the loss grows, one step after the other until none can
// better it, the better policy being the best one at every moment, and the corner becomes the one where the
// loss is largest for what was promised, by turns. Such climbs end on hills of their own, so they start in
// many places: where other plans of the atlas gain most, where the plan changed in one state at one step
// does, and anywhere. Every member that is met is compared with everything that the atlas says. An atlas is
// as fine as the data allow.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "climbing_attack.hpp"

namespace {

using namespace alidade;
using namespace alidade::atlas_attack;

struct Case {
    std::string name, problem;
    std::vector<std::string> objectives;
};

const std::vector<Case> cases{
    {"garnet 10,3,3,5,5",
     "garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1&seed=1",
     {"dense", "dense", "dense"}},
    {"garnet 10,3,3,5,5, sparse",
     "garnet?states=10&actions=3&features=3&horizon=5&successors=5&concentration=1&seed=1",
     {"sparse", "sparse", "sparse"}},
    {"garnet 20,4,5,5,8",
     "garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=1&seed=1",
     {"dense", "dense", "dense"}},
    {"garnet 20,4,5,5,8, sparse",
     "garnet?states=20&actions=4&features=5&horizon=5&successors=8&concentration=1&seed=1",
     {"sparse", "sparse", "sparse"}},
    {"inventory", "inventory?seed=1", {"service-level", "holding-cost", "no order"}},
    {"riverswim", "riverswim", {"classic", "upstream"}},
    {"gridworld", "gridworld", {"goal", "avoid"}},
};

Reward make_objective(const Problem& problem, const std::string& name, Stream& random) {
    for (const NamedReward& known : problem.rewards())
        if (known.name == name) return known.reward;
    const Shape& shape = problem.shape();
    std::vector<double> values(at(shape.pairs()), 0.0);
    if (name == "no order") {
        for (State s = 0; s < shape.states; ++s) values[at(shape.pair(s, 0))] = 1;
        return {shape, std::move(values)};
    }
    values.resize(at(shape.horizon * shape.pairs()));
    for (double& value : values) {
        const double u = sample_uniform(random);
        value = name == "dense" ? u : u < 0.05 ? 1.0 : 0.0;
    }
    return {shape, std::move(values)};
}

/// An exploration that is looked at now and then.
class Run {
public:
    explicit Run(const Case& which)
        : problem_(make_builtin("builtin:" + which.problem)),
          system_(problem_.true_model(), 1),
          explorer_(task_of(problem_), {.delta = 0.1, .seed = 1}),
          random_(1, Purpose::test, 0, 960) {
        std::vector<Reward> rewards;
        for (const std::string& name : which.objectives)
            rewards.push_back(make_objective(problem_, name, random_));
        objectives_.emplace(std::move(rewards));
    }

    Outcome look(const std::string& name, std::int64_t episodes) {
        while (explorer_.episodes() < episodes) {
            const Deployment deployment = explorer_.ask();
            const std::int64_t done = explorer_.episodes();
            Counts counts(problem_.shared_features(), problem_.shape().horizon);
            system_.deploy(*deployment.policy, done, std::min(deployment.episodes, episodes - done), counts);
            explorer_.tell(counts);
        }
        const Knowledge knowledge = explorer_.knowledge();
        const Atlas atlas = make_atlas(knowledge, *objectives_);
        check_cover(atlas);
        Attack attack(knowledge, *objectives_, atlas, random_);
        attack.run();
        const Outcome& outcome = attack.outcome();
        const std::array<double, 4> tightness = attack.tightness();
        fmt::print(
            "| {}; {:.0e} | {:.3g} | {:.3g} | {} / {} | {} | {} | {} | {:.4f} | {:.2f} | {:.2f} | {:.2f} | "
            "{:.2f} |\n",
            name, static_cast<double>(episodes), atlas.loss_bound, atlas.reward_free, atlas.policies.size(),
            atlas.cells.size(), outcome.members, outcome.comparisons, outcome.violations, outcome.closest,
            tightness[0], tightness[1], tightness[2], tightness[3]);
        std::fflush(stdout);
        return outcome;
    }

private:
    Problem problem_;
    CountSplittingDeployer system_;
    Explorer explorer_;
    Stream random_;
    std::optional<Objectives> objectives_;
};

}  // namespace

int main(int count, char** arguments) {
    const bool quick = count > 1 && std::string_view(arguments[1]) == "--quick";
    const std::vector<std::int64_t> looks =
        quick ? std::vector<std::int64_t>{10'000} : std::vector<std::int64_t>{1'000, 10'000, 100'000};
    fmt::print(
        "`closest` is the largest loss of a member as a share of its bound. `all`: the largest bound over "
        "the "
        "largest loss\nof a member at any corner; `worst`: over the loss that a member attains at that very "
        "corner; "
        "`{} worst`: the same of the\nmean of the corners with the largest bounds, and the largest among "
        "them.\n\n"
        "| problem; K | atlas | reward-free | policies / cells | members | comparisons | broken | closest | "
        "all | worst | {} worst | largest |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
        worst_corners, worst_corners);
    std::int64_t comparisons = 0, violations = 0;
    for (const Case& which : cases) {
        if (quick && which.name == "gridworld") continue;
        Run run(which);
        for (const std::int64_t episodes : looks) {
            const Outcome outcome = run.look(which.name, episodes);
            comparisons += outcome.comparisons;
            violations += outcome.violations;
        }
    }
    fmt::print("\n{} comparisons, {} broken\n", comparisons, violations);
    return violations > 0 ? 1 : 0;
}
