#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_rows.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"

/// What truths in total-variation balls can do to policies, in extended precision and with no code of the
/// library but the learned model's own numbers. Truths have rows of their own at each step also where the
/// learned model is homogeneous: what is claimed of it holds for them, too, since no argument uses that rows
/// are alike.
namespace alidade::support {

using Long = long double;

/// A learned model, and what can be asked of truths in its balls.
class RowAttack {
public:
    using Row = std::vector<Long>;
    using Values = std::vector<Row>;    // steps x states
    using Rows = std::vector<Row>;      // (learned step, pair) x successors
    using Choice = std::vector<Row>;    // (step, state) x actions
    using Rewards = std::vector<Long>;  // (step, pair)

    /// `radii` are those that the model was made with: what it makes of them is attacked, too.
    RowAttack(const LearnedRows& learned, std::vector<double> radii)
        : learned_(learned), shape_(learned.shape()), radii_(std::move(radii)) {
        for (Step h = 0; h + 1 < shape_.horizon; ++h)
            for (Index pair = 0; pair < shape_.pairs(); ++pair) {
                const auto law = learned.model().probabilities(h, pair);
                model_.emplace_back(law.begin(), law.end());
            }
    }

    const Rows& model() const { return model_; }
    const Shape& shape() const { return shape_; }

    /// The law of the ball with the largest mean of `gain`: none has more than r that the row has not, nor
    /// less by more than r, whatever rounding made of the sum of the row.
    Row farthest(Step h, Index pair, const Row& gain) const {
        Row law = model_[row(h, pair)];
        const Long radius = static_cast<Long>(radii_[at(learned_.set_index(h) * shape_.pairs() + pair)]);
        const Long sum = std::accumulate(law.begin(), law.end(), Long{0});
        if (radius <= std::abs(sum - 1)) {
            for (Long& p : law) p /= sum;
            return law;
        }
        std::vector<std::size_t> order(law.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, {}, [&](std::size_t j) { return gain[j]; });
        Long rest = radius - std::max(Long{0}, 1 - sum);
        for (const std::size_t j : order) {
            const Long taken = std::min(rest, law[j]);
            law[j] -= taken;
            rest -= taken;
        }
        law[order.back()] += 1 - std::accumulate(law.begin(), law.end(), Long{0});
        return law;
    }

    Row at_successors(Index pair, const Row& value) const {
        Row found;
        for (const std::int32_t target : learned_.model().successors().targets(pair))
            found.push_back(value[at(target)]);
        return found;
    }

    Long follow(const Rows& truth, Step h, Index pair, const Row& next) const {
        if (h + 1 == shape_.horizon) return 0;
        const Row value = at_successors(pair, next);
        return std::inner_product(value.begin(), value.end(), truth[row(h, pair)].begin(), Long{0});
    }

    Values evaluate(const Rows& truth, const Choice& policy, const Rewards& reward) const {
        Values values = nothing();
        for (Step h = shape_.horizon - 1; h >= 0; --h)
            each([&](State s, Action a, Index pair) {
                values[at(h)][at(s)] += policy[at(h * shape_.states + s)][at(a)] *
                                        (reward[row(h, pair)] + follow(truth, h, pair, values[at(h + 1)]));
            });
        return values;
    }

    /// The values of the best policy, and the policy.
    std::pair<Values, Choice> optimum(const Rows& truth, const Rewards& reward) const {
        Values values = nothing();
        Choice best(at(shape_.horizon * shape_.states), Row(at(shape_.actions), 0));
        for (Step h = shape_.horizon - 1; h >= 0; --h)
            for (State s = 0; s < shape_.states; ++s) {
                Long most = -1;
                for (Action a = 0; a < shape_.actions; ++a) {
                    const Index pair = shape_.pair(s, a);
                    const Long value = reward[row(h, pair)] + follow(truth, h, pair, values[at(h + 1)]);
                    if (value <= most) continue;
                    most = value;
                    Row& choice = best[at(h * shape_.states + s)];
                    std::ranges::fill(choice, Long{0});
                    choice[at(a)] = 1;
                }
                values[at(h)][at(s)] = most;
            }
        return {values, best};
    }

    /// How often each (step, pair) is met.
    Rewards visits(const Rows& truth, const Choice& policy) const {
        Rewards met(at(shape_.horizon * shape_.pairs()), 0);
        Row mass(at(shape_.states), 0);
        for (const auto& [state, p] : learned_.model().start().atoms())
            mass[at(state)] = static_cast<Long>(p);
        for (Step h = 0; h < shape_.horizon; ++h) {
            Row next(at(shape_.states), 0);
            each([&](State s, Action a, Index pair) {
                met[row(h, pair)] = mass[at(s)] * policy[at(h * shape_.states + s)][at(a)];
                if (h + 1 == shape_.horizon) return;
                const auto targets = learned_.model().successors().targets(pair);
                for (std::size_t j = 0; j < targets.size(); ++j)
                    next[at(targets[j])] += met[row(h, pair)] * truth[row(h, pair)][j];
            });
            mass = next;
        }
        return met;
    }

    Long at_start(const Values& values) const {
        Long sum = 0, mass = 0;  // not one in more digits than a double has
        for (const auto& [state, p] : learned_.model().start().atoms()) {
            sum += static_cast<Long>(p) * values.front()[at(state)];
            mass += static_cast<Long>(p);
        }
        return sum / mass;
    }

    /// The truth with the largest (sign 1) or smallest (-1) value of a policy, at all states at once.
    Rows extreme(const Choice& policy, const Rewards& reward, Long sign) const {
        Rows truth = model_;
        Values values = nothing();
        for (Step h = shape_.horizon - 1; h >= 0; --h)
            each([&](State s, Action a, Index pair) {
                if (h + 1 < shape_.horizon) truth[row(h, pair)] = towards(h, pair, values[at(h + 1)], sign);
                values[at(h)][at(s)] += policy[at(h * shape_.states + s)][at(a)] *
                                        (reward[row(h, pair)] + follow(truth, h, pair, values[at(h + 1)]));
            });
        return truth;
    }

    /// The truth under which the most can be earned.
    Rows kindest(const Rewards& reward) const {
        Rows truth = model_;
        Row next(at(shape_.states), 0);
        for (Step h = shape_.horizon - 1; h >= 0; --h) {
            Row now(at(shape_.states), 0);
            each([&](State s, Action, Index pair) {
                if (h + 1 < shape_.horizon) truth[row(h, pair)] = towards(h, pair, next, 1);
                now[at(s)] = std::max(now[at(s)], reward[row(h, pair)] + follow(truth, h, pair, next));
            });
            next = now;
        }
        return truth;
    }

    /// Climbs to a truth under which `one` earns much more than `other`: of every row the difference is
    /// linear, so that the best law of its ball is the farthest one.
    void part(Rows& truth, const Choice& one, const Choice& other, const Rewards& reward) const {
        for (Step h = 0; h + 1 < shape_.horizon; ++h) {
            const Values ones = evaluate(truth, one, reward), others = evaluate(truth, other, reward);
            const Rewards by_one = visits(truth, one), by_other = visits(truth, other);
            for (Index pair = 0; pair < shape_.pairs(); ++pair) {
                const Long mine = by_one[row(h, pair)], theirs = by_other[row(h, pair)];
                Row gain = at_successors(pair, ones[at(h + 1)]);
                const Row loss = at_successors(pair, others[at(h + 1)]);
                for (std::size_t j = 0; j < gain.size(); ++j) gain[j] = mine * gain[j] - theirs * loss[j];
                truth[row(h, pair)] = farthest(h, pair, gain);
            }
        }
    }

    /// The largest loss of a policy that is found, from a given truth on.
    Long loss_from(Rows truth, const Choice& policy, const Rewards& reward, int rounds = 3) const {
        Long most = 0;
        for (int k = 0; k < rounds; ++k) {
            const auto [values, best] = optimum(truth, reward);
            most = std::max(most, at_start(values) - at_start(evaluate(truth, policy, reward)));
            part(truth, best, policy, reward);
        }
        const auto [values, best] = optimum(truth, reward);
        return std::max(most, at_start(values) - at_start(evaluate(truth, policy, reward)));
    }

    Rows random_truth(Stream& random) const {
        Rows truth;
        for (Step h = 0; h + 1 < shape_.horizon; ++h)
            for (Index pair = 0; pair < shape_.pairs(); ++pair) {
                Row gain;
                for (std::size_t j = 0; j < model_[row(h, pair)].size(); ++j)
                    gain.push_back(static_cast<Long>(sample_uniform(random)));
                truth.push_back(farthest(h, pair, gain));
            }
        return truth;
    }

    Choice choice_of(const Policy& policy) const {
        Choice choice;
        for (Step h = 0; h < shape_.horizon; ++h)
            for (State s = 0; s < shape_.states; ++s) {
                Row& law = choice.emplace_back();
                for (Action a = 0; a < shape_.actions; ++a)
                    law.push_back(static_cast<Long>(policy.probability(h, s, a)));
                const Long sum = std::accumulate(law.begin(), law.end(), Long{0});
                for (Long& p : law) p /= sum;
            }
        return choice;
    }

    static Rewards exact(const Reward& reward) {
        Rewards result;
        const Shape& shape = reward.shape();
        for (Step h = 0; h < shape.horizon; ++h)
            for (const double r : reward.at(h)) result.push_back(static_cast<Long>(r));
        return result;
    }

private:
    std::size_t row(Step h, Index pair) const { return at(h * shape_.pairs() + pair); }

    Values nothing() const { return Values(at(shape_.horizon + 1), Row(at(shape_.states), 0)); }

    template <class Visit>
    void each(Visit visit) const {
        for (State s = 0; s < shape_.states; ++s)
            for (Action a = 0; a < shape_.actions; ++a) visit(s, a, shape_.pair(s, a));
    }

    Row towards(Step h, Index pair, const Row& next, Long sign) const {
        Row gain = at_successors(pair, next);
        for (Long& g : gain) g *= sign;
        return farthest(h, pair, gain);
    }

    const LearnedRows& learned_;
    Shape shape_;
    std::vector<double> radii_;
    Rows model_;
};

}  // namespace alidade::support
