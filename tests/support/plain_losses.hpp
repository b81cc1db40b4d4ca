#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/certify/weighting.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/transition_model.hpp"
#include "support/random_models.hpp"

/// Losses under weighted objectives by plain loops over dense laws, which need not be mixtures: no planner,
/// evaluation or weighting of the library is used.
namespace alidade::support {

/// P_h(s'|s,a) of every step, as steps x pairs x states numbers.
struct PlainTruth {
    Shape shape;
    std::vector<double> start, law;

    explicit PlainTruth(const TransitionModel& model)
        : shape(model.shape()),
          start(at(shape.states), 0.0),
          law(at(shape.horizon * shape.pairs() * shape.states), 0.0) {
        for (const auto& [state, probability] : model.start().atoms()) start[at(state)] += probability;
        for (Step h = 0; h < shape.horizon; ++h)
            for (Index pair = 0; pair < shape.pairs(); ++pair) {
                const auto targets = model.successors().targets(pair);
                const auto row = model.probabilities(h, pair);
                for (std::size_t j = 0; j < targets.size(); ++j) probability(h, pair, targets[j]) += row[j];
            }
    }

    double& probability(Step h, Index pair, State s) {
        return law[at((h * shape.pairs() + pair) * shape.states + s)];
    }
    const double* row(Step h, Index pair) const {
        return law.data() + at((h * shape.pairs() + pair) * shape.states);
    }
};

/// What a state is worth at every step: H+1 rows of S, the last one zero.
using PlainValues = std::vector<std::vector<double>>;

/// Objectives as one list of numbers, step-major.
class PlainObjectives {
public:
    explicit PlainObjectives(const Objectives& objectives) : shape_(objectives.shape()) {
        for (Index i = 0; i < objectives.count(); ++i) {
            std::vector<double> all;
            for (Step h = 0; h < shape_.horizon; ++h)
                all.insert(all.end(), objectives[i].at(h).begin(), objectives[i].at(h).end());
            rewards_.push_back(std::move(all));
        }
    }

    std::size_t count() const { return rewards_.size(); }
    std::vector<double> weighted(std::span<const double> weights) const {
        std::vector<double> sum(rewards_.front().size(), 0.0);
        for (std::size_t i = 0; i < count(); ++i)
            for (std::size_t e = 0; e < sum.size(); ++e) sum[e] += weights[i] * rewards_[i][e];
        return sum;
    }

    /// Of the best actions, or of the policy's.
    PlainValues values(const PlainTruth& truth, const std::vector<double>& reward,
                       const Policy* policy) const {
        PlainValues values(at(shape_.horizon + 1), std::vector<double>(at(shape_.states), 0.0));
        for (Step h = shape_.horizon - 1; h >= 0; --h)
            for (State s = 0; s < shape_.states; ++s) {
                double best = 0, mean = 0;
                for (Action a = 0; a < shape_.actions; ++a) {
                    const Index pair = shape_.pair(s, a);
                    double value = reward[at(h * shape_.pairs() + pair)];
                    const double* row = truth.row(h, pair);
                    for (State next = 0; next < shape_.states; ++next)
                        value += row[next] * values[at(h + 1)][at(next)];
                    best = a == 0 ? value : std::max(best, value);
                    if (policy) mean += policy->probability(h, s, a) * value;
                }
                values[at(h)][at(s)] = policy ? mean : best;
            }
        return values;
    }
    double optimal(const PlainTruth& truth, std::span<const double> weights) const {
        return mean(truth, values(truth, weighted(weights), nullptr));
    }
    /// Of every objective.
    std::vector<double> of_policy(const PlainTruth& truth, const Policy& policy) const {
        std::vector<double> all;
        for (const auto& reward : rewards_) all.push_back(mean(truth, values(truth, reward, &policy)));
        return all;
    }

private:
    static double mean(const PlainTruth& truth, const PlainValues& values) {
        return std::inner_product(truth.start.begin(), truth.start.end(), values.front().begin(), 0.0);
    }

    Shape shape_;
    std::vector<std::vector<double>> rewards_;
};

/// How often a promise was compared with a truth, and how close they came.
struct Comparisons {
    std::int64_t made = 0, broken = 0;
    double closest = 0;  ///< the largest loss as a share of its bound, where that is more than 1e-6
    double excess = 0;   ///< the largest of a loss over its bound
};

/// What an atlas says at some weights in each of its cells, at its corners and at random weights of its
/// region, for comparison with truths.
class AtlasPromises {
public:
    /// What plain loops round.
    static constexpr double rounding = 1e-12;

    AtlasPromises(const Atlas& atlas, const Objectives& objectives, Stream& random, int each_cell)
        : atlas_(atlas), objectives_(objectives) {
        for (std::size_t c = 0; c < atlas.cells.size(); ++c) {
            const std::size_t k = atlas.cells[c].corners.size();
            for (std::size_t j = 0; j < k; ++j) {
                std::vector<double> unit(k, 0.0);
                unit[j] = 1;
                add(c, unit);
            }
            for (int n = 0; n < each_cell; ++n)
                add(c, sample_dirichlet(random, static_cast<Index>(k), n % 2 == 0 ? 1.0 : 0.2));
        }
    }

    /// Everything that is said, against one truth.
    void compare(const PlainTruth& truth, Comparisons& tally) const {
        std::vector<std::vector<double>> values;
        for (const AtlasPolicy& policy : atlas_.policies) {
            values.push_back(objectives_.of_policy(truth, policy.policy));
            for (std::size_t i = 0; i < policy.values.size(); ++i) {
                count(policy.values[i].lower, values.back()[i], tally);
                count(values.back()[i], policy.values[i].upper, tally);
            }
        }
        for (const AtlasOuter& outer : atlas_.outer)
            count(objectives_.optimal(truth, outer.weights), outer.optimal_upper, tally);
        for (const Promise& promise : promises_) {
            const double optimal = objectives_.optimal(truth, promise.weights);
            const auto loss = [&](Index policy) {
                return optimal - std::inner_product(promise.weights.begin(), promise.weights.end(),
                                                    values[at(policy)].begin(), 0.0);
            };
            for (const auto& [policy, bound] : promise.bounds) {
                count(loss(policy), bound, tally);
                if (bound > 1e-6) tally.closest = std::max(tally.closest, loss(policy) / bound);
            }
            for (const auto& [policy, bound] : promise.coarser)
                if (!(loss(policy) <= bound + rounding)) ++tally.broken;
        }
    }

    /// The most by which the look-up promises less than the weighted corners of a cell that has the weights.
    double worse() const { return worse_; }

private:
    struct Promise {
        std::vector<double> weights;
        std::vector<std::pair<Index, double>> bounds;   // a policy, and the most that it loses
        std::vector<std::pair<Index, double>> coarser;  // the same of all its weights: not counted
    };

    void add(std::size_t c, const std::vector<double>& coordinates) {
        const AtlasCell& cell = atlas_.cells[c];
        std::vector<double> weights(atlas_.corners.front().size(), 0.0);
        double bound = 0;
        for (std::size_t j = 0; j < coordinates.size(); ++j) {
            bound += coordinates[j] * cell.bounds[j];
            for (std::size_t i = 0; i < weights.size(); ++i)
                weights[i] += coordinates[j] * atlas_.corners[at(cell.corners[j])][i];
        }
        const AtlasAnswer answer = atlas_.at(weights);
        worse_ = std::max(worse_, answer.loss_bound - bound);
        promises_.push_back({std::move(weights),
                             {{answer.policy, answer.loss_bound}, {cell.policy, bound}},
                             {{answer.policy, atlas_.policies[at(answer.policy)].loss_bound},
                              {cell.policy, cell.loss_bound},
                              {cell.policy, atlas_.loss_bound}}});
    }
    static void count(double less, double more, Comparisons& tally) {
        ++tally.made;
        tally.excess = std::max(tally.excess, less - more);
        if (!(less <= more + rounding)) ++tally.broken;
    }

    const Atlas& atlas_;
    PlainObjectives objectives_;
    std::vector<Promise> promises_;
    double worse_ = 0;
};

/// Dense, sparse, of one state, in turn; now and then constant, or the opposite of another.
inline Objectives random_objectives(Stream& random, const Shape& shape, Index count) {
    std::vector<Reward> rewards;
    for (Index i = 0; i < count; ++i) switch (sample_index(random, 8)) {
            case 0:
                rewards.push_back(Reward::constant(shape, sample_uniform(random)));
                break;
            case 1:
                if (i > 0) {
                    rewards.push_back(complement(rewards.back()));
                    break;
                }
                [[fallthrough]];
            case 2:
            case 3:
                rewards.push_back(random_sparse_reward(random, shape, 0.3));
                break;
            case 4: {
                std::vector<double> values(at(shape.pairs()), 0.0);
                const State favoured = sample_index(random, shape.states);
                for (Action a = 0; a < shape.actions; ++a) values[at(shape.pair(favoured, a))] = 1;
                rewards.emplace_back(shape, std::move(values));
                break;
            }
            default:
                rewards.push_back(random_reward(random, shape));
        }
    return Objectives(std::move(rewards));
}

}  // namespace alidade::support
