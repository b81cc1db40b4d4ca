// Atlases against members of their confidence sets that climb to where the plans lose most, and how near to
// such losses the bounds are.
//
//     atlas_attack [--quick]       small problems and 1e4 episodes alone
//
// For one member the loss of a plan is convex in the weights, so that it is largest at corners of cells; for
// one policy and one better policy it is linear in the weights of each step's base models. So members go to
// the boundary of the sets in the direction in which the loss grows, the better policy becomes the best one
// there, and the corner the one where the loss is largest for what was promised, by turns. Every member that
// is met is compared with everything that the atlas says. An atlas is as fine as the data allow.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "support/climbing_members.hpp"

namespace {

using namespace alidade;

/// Plans that nearly tie with a cell's and are tried as the better ones, and members to start from.
constexpr std::size_t rivals = 10;
constexpr int random_starts = 10;
/// Corners that a member goes on to.
constexpr int hops = 2;
/// The worst corners, all of which are attacked; of the others as many again.
constexpr std::size_t worst_corners = 12;

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

/// A plan at a corner, as cells have it.
struct Pair {
    Index corner = 0, policy = 0;
    auto operator<=>(const Pair&) const = default;
};
struct Pledge {
    double bound = 0, attained = 0;
};

struct Outcome {
    std::int64_t comparisons = 0, violations = 0, members = 0;
    double closest = 0;  // the largest loss as a share of its bound
};

class Attack {
public:
    Attack(const Knowledge& knowledge, const Objectives& objectives, const Atlas& atlas, Stream& random)
        : learned_(knowledge.mixture()),
          objectives_(objectives),
          atlas_(atlas),
          random_(random),
          farthest_(learned_) {
        for (const std::vector<double>& corner : atlas.corners)
            rewards_.push_back(objectives.weighted(corner));
        for (const AtlasCell& cell : atlas.cells)
            for (std::size_t j = 0; j < cell.corners.size(); ++j)
                pledges_[{cell.corners[j], cell.policy}].bound = cell.bounds[j];
    }

    void run() {
        std::vector<std::pair<double, Pair>> order;
        for (const auto& [pair, pledge] : pledges_) order.emplace_back(-pledge.bound, pair);
        std::ranges::sort(order);
        for (std::size_t n = 0; n < order.size() && n < worst_corners; ++n) climb_from(order[n].second);
        for (std::size_t n = 0; n < worst_corners && order.size() > worst_corners; ++n)
            climb_from(order[at(sample_index(random_, static_cast<Index>(order.size())))].second);
    }

    const Outcome& outcome() const { return outcome_; }

    /// The bound of the worst corner over the loss that a member attains there.
    double tightness_at_worst() const {
        const auto worst =
            std::ranges::max_element(pledges_, {}, [](const auto& entry) { return entry.second.bound; });
        return worst->second.bound / worst->second.attained;
    }
    /// The same of the worst corners together.
    double tightness_of_worst() const {
        std::vector<Pledge> all;
        for (const auto& [pair, pledge] : pledges_) all.push_back(pledge);
        std::ranges::sort(all, std::ranges::greater{}, &Pledge::bound);
        double bound = 0, attained = 0;
        for (std::size_t n = 0; n < std::min(all.size(), worst_corners); ++n) {
            bound += all[n].bound;
            attained += all[n].attained;
        }
        return bound / attained;
    }

private:
    MixtureModel with(const Matrix& weights) const {
        const MixtureModel& model = learned_.model();
        return MixtureModel(model.shared_features(), model.shape().horizon, model.start(), weights);
    }
    double loss(const Matrix& weights, const Pair& of) const {
        const MixtureModel truth = with(weights);
        const Reward& reward = rewards_[at(of.corner)];
        return backward_induction(truth, reward).value - evaluate(truth, policy(of), reward).value;
    }
    const Policy& policy(const Pair& of) const { return atlas_.policies[at(of.policy)].policy; }

    /// Derivatives of a policy's value by the weights of each set.
    Matrix slope(const MixtureModel& truth, const Policy& of, const Reward& reward) const {
        const FeatureMap& features = truth.features();
        const Matrix values = evaluate(truth, of, reward).values, pairs = occupancy(truth, of);
        Matrix sum = Matrix::Zero(static_cast<Index>(learned_.sets().size()), features.features());
        for (Step h = 0; h + 1 < truth.shape().horizon; ++h)
            for (Index pair = 0; pair < truth.shape().pairs(); ++pair) {
                if (pairs(h, pair) == 0) continue;
                for (Index j = 0; j < features.successors(pair); ++j) {
                    const auto phi = features.phi(features.first_entry(pair) + j);
                    const double weight = pairs(h, pair) * values(h + 1, features.targets(pair)[at(j)]);
                    for (Index i = 0; i < sum.cols(); ++i)
                        sum(learned_.set_index(h), i) += weight * phi[at(i)];
                }
            }
        return sum;
    }

    /// Members at the boundary towards which some other plan of the atlas gains on the pair's, and any.
    std::vector<Matrix> starts(const Pair& of) {
        const Matrix& centre = learned_.model().weights();
        const std::vector<double>& weights = atlas_.corners[at(of.corner)];
        std::vector<std::pair<double, Index>> others;
        for (Index other = 0; other < static_cast<Index>(atlas_.policies.size()); ++other) {
            const std::vector<double>& values = atlas_.policies[at(other)].model_values;
            if (other != of.policy)
                others.emplace_back(-std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0),
                                    other);
        }
        std::ranges::sort(others);
        std::vector<Matrix> found;
        const MixtureModel truth = with(centre);
        const Reward& reward = rewards_[at(of.corner)];
        for (std::size_t n = 0; n < std::min(rivals, others.size()); ++n) {
            const Matrix goal =
                farthest_(centre, slope(truth, atlas_.policies[at(others[n].second)].policy, reward) -
                                      slope(truth, policy(of), reward));
            found.push_back(0.000001 * centre + 0.999999 * goal);
        }
        for (int n = 0; n < random_starts; ++n)
            found.push_back(support::random_member(learned_, random_, false).weights());
        std::erase_if(found, [&](const Matrix& member) { return !support::inside(learned_, member); });
        return found;
    }

    void climb_from(const Pair& first) {
        for (const Matrix& start : starts(first)) {
            Pair here = first;
            Matrix member = start;
            for (int hop = 0; hop <= hops; ++hop) {
                const Reward& reward = rewards_[at(here.corner)];
                member = support::climb(
                    learned_, farthest_, member, [&](const Matrix& weights) { return loss(weights, here); },
                    [&](const Matrix& weights) -> Matrix {
                        const MixtureModel truth = with(weights);
                        return slope(truth, backward_induction(truth, reward).policy, reward) -
                               slope(truth, policy(here), reward);
                    });
                const Pair next = compare(member);
                if (next == here) break;
                here = next;
            }
        }
    }

    void count(double less, double more) {
        ++outcome_.comparisons;
        if (!(less <= more + 1e-12)) ++outcome_.violations;
    }

    /// Everything that the atlas says against one member; the pair that comes nearest to its bound.
    Pair compare(const Matrix& weights) {
        const MixtureModel truth = with(weights);
        ++outcome_.members;
        std::vector<std::vector<double>> values;
        for (const AtlasPolicy& policy : atlas_.policies) {
            values.emplace_back();
            for (Index i = 0; i < objectives_.count(); ++i) {
                values.back().push_back(evaluate(truth, policy.policy, objectives_[i]).value);
                count(policy.values[at(i)].lower, values.back().back());
                count(values.back().back(), policy.values[at(i)].upper);
            }
        }
        const auto value = [&](const std::vector<double>& of, Index policy) {
            return std::inner_product(of.begin(), of.end(), values[at(policy)].begin(), 0.0);
        };
        std::vector<double> optimal;
        for (const Reward& reward : rewards_) optimal.push_back(backward_induction(truth, reward).value);
        for (const AtlasOuter& outer : atlas_.outer)
            count(optimal[at(std::ranges::find(atlas_.corners, outer.weights) - atlas_.corners.begin())],
                  outer.optimal_upper);
        Pair nearest = pledges_.begin()->first;
        double most = -1;
        for (auto& [pair, pledge] : pledges_) {
            const double lost =
                optimal[at(pair.corner)] - value(atlas_.corners[at(pair.corner)], pair.policy);
            count(lost, pledge.bound);
            pledge.attained = std::max(pledge.attained, lost);
            if (pledge.bound < 1e-6) continue;
            outcome_.closest = std::max(outcome_.closest, lost / pledge.bound);
            // The small ones are near their bounds by chance.
            if (pledge.bound > 0.1 * atlas_.loss_bound && lost / pledge.bound > most) {
                most = lost / pledge.bound;
                nearest = pair;
            }
        }
        compare_inside(truth, value);
        return nearest;
    }

    /// The same at any weights, by the look-up, of which there is one for ten cells.
    template <class Value>
    void compare_inside(const MixtureModel& truth, const Value& value) {
        for (std::size_t n = 0; n < atlas_.cells.size(); n += 10) {
            const auto weights = sample_dirichlet(random_, objectives_.count(), 1.0);
            const AtlasAnswer answer = atlas_.at(weights);
            const double optimal = backward_induction(truth, objectives_.weighted(weights)).value;
            count(optimal - value(weights, answer.policy), answer.loss_bound);
        }
    }

    const LearnedMixture& learned_;
    const Objectives& objectives_;
    const Atlas& atlas_;
    Stream& random_;
    support::Farthest farthest_;
    std::vector<Reward> rewards_;  // of the corners
    std::map<Pair, Pledge> pledges_;
    Outcome outcome_;
};

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
        fmt::print("| {}; {:.0e} | {:.3g} | {:.3g} | {} / {} | {} | {} | {} | {:.4f} | {:.2f} | {:.2f} |\n",
                   name, static_cast<double>(episodes), atlas.loss_bound, atlas.reward_free,
                   atlas.policies.size(), atlas.cells.size(), outcome.members, outcome.comparisons,
                   outcome.violations, outcome.closest, attack.tightness_at_worst(),
                   attack.tightness_of_worst());
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
        "`closest` is the largest loss of a member as a share of its bound. `worst`: the largest bound over "
        "the loss\nthat a member attains at that corner; `{} worst`: the same of the mean of the corners "
        "with "
        "the largest bounds.\n\n"
        "| problem; K | atlas | reward-free | policies / cells | members | comparisons | broken | closest | "
        "worst | {} worst |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
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
