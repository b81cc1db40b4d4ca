#pragma once

// An attack on one atlas by members of the confidence sets that climb; atlas_attack.cpp says how.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/random/samplers.hpp"
#include "support/climbing_members.hpp"

namespace alidade::atlas_attack {

/// Of each kind of rival to a cell's plan, the most promising ones are started from; and so many members.
inline constexpr std::size_t rivals = 10;
inline constexpr int random_starts = 10;
/// Corners that a member goes on to.
inline constexpr int hops = 2;
/// The worst corners, all of which are attacked; of the others as many again.
inline constexpr std::size_t worst_corners = 12;

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

    /// Bounds over the losses that members attain: the largest bound over the largest loss, wherever they
    /// are; of the worst corner, of the worst ones together, and the largest among these.
    std::array<double, 4> tightness() const {
        std::vector<Pledge> all;
        for (const auto& [pair, pledge] : pledges_) all.push_back(pledge);
        std::ranges::sort(all, std::ranges::greater{}, &Pledge::bound);
        const double most = std::ranges::max_element(all, {}, &Pledge::attained)->attained;
        all.resize(std::min(all.size(), worst_corners));
        double bound = 0, attained = 0, largest = 0;
        for (const Pledge& each : all) {
            bound += each.bound;
            attained += each.attained;
            largest = std::max(largest, each.bound / each.attained);
        }
        return {all.front().bound / most, all.front().bound / all.front().attained, bound / attained,
                largest};
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

    /// The member at the boundary towards which a policy gains most on the pair's, seen from the model.
    Matrix member_for(const Policy& rival, const Pair& of, const Matrix& slope_of_pair) const {
        const Matrix& centre = learned_.model().weights();
        const Matrix goal =
            farthest_(centre, slope(learned_.model(), rival, rewards_[at(of.corner)]) - slope_of_pair);
        return 0.000001 * centre + 0.999999 * goal;
    }

    /// The pair's policy with another action in one state at one step, wherever it matters in the model.
    std::vector<Policy> changed_once(const Pair& of) const {
        const Matrix reached = occupancy(learned_.model(), policy(of));
        const Shape& shape = learned_.model().shape();
        std::vector<Policy> found;
        for (Step h = 0; h < shape.horizon; ++h)
            for (State s = 0; s < shape.states; ++s) {
                const Action own = policy(of).action(h, s);
                if (reached(h, shape.pair(s, own)) < 1e-9) continue;
                for (Action a = 0; a < shape.actions; ++a)
                    if (a != own) {
                        std::vector<std::int32_t> actions = policy(of).actions();
                        actions[at(h * shape.states + s)] = static_cast<std::int32_t>(a);
                        found.push_back(Policy::deterministic(shape, std::move(actions)));
                    }
            }
        return found;
    }

    /// The other plans of the atlas, the best one in the model for the corner first.
    std::vector<Policy> by_value_at(const Pair& of) const {
        const std::vector<double>& weights = atlas_.corners[at(of.corner)];
        std::vector<std::pair<double, Index>> order;
        for (Index other = 0; other < std::ssize(atlas_.policies); ++other) {
            const std::vector<double>& values = atlas_.policies[at(other)].model_values;
            if (other != of.policy)
                order.emplace_back(-std::inner_product(weights.begin(), weights.end(), values.begin(), 0.0),
                                   other);
        }
        std::ranges::sort(order);
        std::vector<Policy> found;
        for (const auto& [value, other] : order) found.push_back(atlas_.policies[at(other)].policy);
        return found;
    }

    /// Members towards which a rival gains on the pair's plan, those where most is lost, and any.
    std::vector<Matrix> starts(const Pair& of) {
        const Matrix own = slope(learned_.model(), policy(of), rewards_[at(of.corner)]);
        std::vector<Matrix> found;
        const auto take_best = [&](const std::vector<Policy>& all) {
            std::vector<std::pair<double, Matrix>> members;
            for (const Policy& rival : all) {
                Matrix member = member_for(rival, of, own);
                if (!support::inside(learned_, member)) continue;
                members.emplace_back(loss(member, of), std::move(member));
            }
            std::ranges::sort(members, std::ranges::greater{}, [](const auto& each) { return each.first; });
            for (std::size_t n = 0; n < std::min(rivals, members.size()); ++n)
                found.push_back(members[n].second);
        };
        // Those that nearly tie with it in the model, and those that gain most by some member.
        std::vector<Policy> others = by_value_at(of);
        take_best(others);
        others.resize(std::min(others.size(), rivals), policy(of));
        for (const Policy& rival : others) {
            Matrix member = member_for(rival, of, own);
            if (support::inside(learned_, member)) found.push_back(std::move(member));
        }
        take_best(changed_once(of));
        for (int n = 0; n < random_starts; ++n) {
            Matrix member = support::random_member(learned_, random_, false).weights();
            if (support::inside(learned_, member)) found.push_back(std::move(member));
        }
        return found;
    }

    /// A member to which the loss climbs: by all sets at once first, then by one after the other.
    Matrix climbed(const Matrix& from, const Pair& here) const {
        const Reward& reward = rewards_[at(here.corner)];
        const auto height = [&](const Matrix& weights) { return loss(weights, here); };
        const auto ascent = [&](const Matrix& weights) -> Matrix {
            const MixtureModel truth = with(weights);
            return slope(truth, backward_induction(truth, reward).policy, reward) -
                   slope(truth, policy(here), reward);
        };
        return support::climb_by_sets(
            learned_, farthest_, support::climb(learned_, farthest_, from, height, ascent), height, ascent);
    }

    void climb_from(const Pair& first) {
        for (const Matrix& start : starts(first)) {
            Pair here = first;
            Matrix member = start;
            for (int hop = 0; hop <= hops; ++hop) {
                member = climbed(member, here);
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

}  // namespace alidade::atlas_attack
