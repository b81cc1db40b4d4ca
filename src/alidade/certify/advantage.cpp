#include "alidade/certify/advantage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "advantage_step.hpp"
#include "alidade/error.hpp"
#include "alidade/theory/regression.hpp"
#include "second_order.hpp"
#include "set_backup.hpp"
#include "set_change.hpp"
#include "shared_loss.hpp"

namespace alidade {

namespace {

double span_of(const std::vector<double>& value) {
    const auto [least, most] = std::ranges::minmax(value);
    return most - least;
}

using detail::ActionBounds, detail::StepBounds;

class AdvantageRecursion {
public:
    AdvantageRecursion(const LearnedMixture& learned, const DeviationTable& deviations, const Reward& reward,
                       const Policy& policy, const ValueBounds& bounds)
        : learned_(learned),
          deviations_(deviations),
          reward_(reward),
          policy_(policy),
          bounds_(bounds),
          shape_(learned.shape()),
          features_(learned.model().features()),
          d_(features_.features()),
          sets_(static_cast<Index>(learned.sets().size())),
          backup_(learned),
          second_order_(learned),
          shared_loss_(learned, policy),
          actions_(at(shape_.actions)),
          now_(shape_.states, sets_ * d_),
          next_(shape_.states, sets_ * d_),
          mean_sums_(at(sets_ * d_)),
          difference_(at(d_)),
          law_difference_(at(shape_.states), 0.0) {
        for (ActionBounds& action : actions_) {
            action.sums.resize(at(sets_ * d_));
            action.middle.resize(at(d_));
        }
    }

    AdvantageBounds run() {
        for (Step h = shape_.horizon - 1; h >= 0; --h) {
            value_span_ = learned_.misspecification() > 0 ? span_of(next_.value) : 0;
            middle_span_ = learned_.misspecification() > 0 ? span_of(next_.middle) : 0;
            if (!last(h)) second_order_.prepare(first_set(h + 1), next_.sums);
            for (State s = 0; s < shape_.states; ++s) {
                for (Action a = 0; a < shape_.actions; ++a) examine(h, s, a);
                average(h, s);
                bound_losses(h, s);
                bound_value(h, s);
            }
            std::swap(now_, next_);
        }
        return result();
    }

private:
    bool last(Step h) const { return h + 1 >= shape_.horizon; }
    /// Sets that matter from step h on; where data are pooled it is always the one.
    Index first_set(Step h) const { return last(h) ? sets_ : learned_.set_index(h); }

    void examine(Step h, State s, Action a) {
        ActionBounds& action = actions_[at(a)];
        const Index pair = shape_.pair(s, a);
        action.probability = policy_.probability(h, s, a);
        action.reward = reward_.at(h, s, a);
        action.value = action.reward;
        action.remainder = action.spread = action.unsettled = 0;
        std::ranges::fill(action.sums, 0.0);
        if (last(h)) return;
        action.value += learned_.model().expect(h, pair, next_.value);
        action.remainder = own_remainder(h, pair, action) + learned_.misspecification() * value_span_ +
                           learned_.model().expect(h, pair, next_.remainder);
        action.spread = backup_(h, pair, next_.radius).upper;
        std::ranges::fill(action.middle, 0.0);
        const auto targets = features_.targets(pair);
        const auto law = learned_.model().probabilities(h, pair);
        double* const own = action.sums.data() + learned_.set_index(h) * d_;
        const Index first = first_set(h) * d_, numbers = sets_ * d_;
        for (std::size_t j = 0; j < law.size(); ++j) {
            const auto target = at(targets[j]);
            const auto phi = features_.phi(features_.first_entry(pair) + static_cast<Index>(j));
            const double* const sums = next_.sums.data() + static_cast<Index>(target) * numbers;
            for (Index i = first; i < numbers; ++i) action.sums[at(i)] += law[j] * sums[i];
            for (Index i = 0; i < d_; ++i) {
                own[i] += phi[at(i)] * next_.value[target];
                action.middle[at(i)] += phi[at(i)] * next_.middle[target];
            }
        }
    }

    /// Bound of (P - P~)(V^pi - V~) at the next step: the deviation times how much V^pi - V~ can vary, or its
    /// expansion, in which only the remainder is bounded so.
    double own_remainder(Step h, Index pair, ActionBounds& action) {
        const double tau = deviations_.at(h, pair);
        const double by_variation = tau * oscillation(pair);
        // Off the mixture the expansion has further terms.
        if (learned_.misspecification() > 0) return by_variation;
        double most = 0;
        for (const std::int32_t target : features_.targets(pair))
            most = std::max(most, next_.remainder[at(target)]);
        action.unsettled = 2 * tau * most;
        second_order_.form(h, pair, action.second_order);
        return std::min(by_variation, second_order_.bound(action.second_order) + action.unsettled);
    }

    /// Bound of Rem(s,a) - Rem(s,pi), of each by itself.
    double separate_remainders(Action a) const {
        const ActionBounds& action = actions_[at(a)];
        double sum = (1 - action.probability) * action.remainder;
        for (const ActionBounds& other : actions_)
            if (&other != &action) sum += other.probability * other.remainder;
        return sum;
    }

    /// The same, or that of the difference, in which what is of second order in both, and what follows both,
    /// cancels.
    double remainder_of_difference(Step h, State s, Action a) {
        const ActionBounds& action = actions_[at(a)];
        const double apart = separate_remainders(a);
        if (last(h) || learned_.misspecification() > 0) return apart;
        double together =
            expected_difference(h, s, a, next_.remainder) + (1 - action.probability) * action.unsettled;
        form_ = action.second_order;
        for (const ActionBounds& other : actions_) {
            if (other.probability == 0) continue;
            if (&other != &action) together += other.probability * other.unsettled;
            form_.add(-other.probability, other.second_order);
        }
        return std::min(apart, together + second_order_.bound(form_));
    }

    /// sum_s' |P~(s'|s,a) - P~(s'|s,pi)| value(s').
    double expected_difference(Step h, State s, Action a, const std::vector<double>& value) {
        double sum = 0;
        const auto count = [&](Action b, double weight) {
            const auto law = learned_.model().probabilities(h, shape_.pair(s, b));
            const auto targets = features_.targets(shape_.pair(s, b));
            for (std::size_t j = 0; j < law.size(); ++j) {
                double& difference = law_difference_[at(targets[j])];
                sum -= std::abs(difference) * value[at(targets[j])];
                difference += weight * law[j];
                sum += std::abs(difference) * value[at(targets[j])];
            }
        };
        count(a, 1);
        for (Action b = 0; b < shape_.actions; ++b)
            if (actions_[at(b)].probability > 0) count(b, -actions_[at(b)].probability);
        for (Action b = 0; b < shape_.actions; ++b)
            for (const std::int32_t target : features_.targets(shape_.pair(s, b)))
                law_difference_[at(target)] = 0;
        return std::max(0.0, sum);
    }

    /// How much V^pi - V~ can vary over what the truth may lead to.
    double oscillation(Index pair) const {
        double most = -std::numeric_limits<double>::infinity(), least = -most;
        const auto count = [&](std::size_t target) {
            most = std::max(most, next_.high[target]);
            least = std::min(least, next_.low[target]);
        };
        if (learned_.misspecification() > 0)
            for (State s = 0; s < shape_.states; ++s) count(at(s));
        else
            for (const std::int32_t target : features_.targets(pair)) count(at(target));
        return std::max(0.0, most - least);
    }

    void average(Step h, State s) {
        double value = 0, remainder = 0;
        std::ranges::fill(mean_sums_, 0.0);
        for (const ActionBounds& action : actions_) {
            if (action.probability == 0) continue;
            value += action.probability * action.value;
            remainder += action.probability * action.remainder;
            for (Index i = first_set(h) * d_; i < sets_ * d_; ++i)
                mean_sums_[at(i)] += action.probability * action.sums[at(i)];
        }
        now_.value[at(s)] = value;
        now_.remainder[at(s)] = remainder;
        std::ranges::copy(mean_sums_, now_.sums.begin() + s * sets_ * d_);
    }

    void bound_losses(Step h, State s) {
        double loss = 0, gap = 0;
        // First rewards differ between the policy and an optimal one: H-h, not H-1-h [likelihood §9.6].
        const double most = std::min(
            static_cast<double>(shape_.steps_after(h) + 1),
            bounds_.optimal_upper(h, s) - bounds_.policy_lower(h, s) + rounding_slack(shape_.horizon));
        std::vector<detail::UndecidedAction> undecided;
        for (Action a = 0; a < shape_.actions; ++a) {
            const Index pair = shape_.pair(s, a);
            const double certain = certain_advantage(h, s, a);
            const bool own = actions_[at(a)].probability == 1;
            const double rough = own ? certain : std::min(certain, gap_advantage(h, s, a));
            gap = std::max(gap, rough + backup_(h, pair, next_.gap).upper);
            const double following = backup_(h, pair, next_.loss).upper;
            const LinearAdvantage linear = own ? own_advantage() : linear_advantage(h, s, a, following);
            const double sharp = std::min(rough, linear.upper);
            loss = std::max(loss, sharp + following);
            const bool possible = own || sharp + following > 0;
            if (!possible || !shared_loss_.counts(h, s)) continue;
            const double bound = std::min(sharp + following, most);
            if (shared_loss_.splits(h))
                shared_loss_.add_first(a, bound, {sharp, {linear.constant, linear.direction}});
            else if (!own)
                undecided.push_back({bound, {linear.constant + following, linear.direction}});
        }
        if (!undecided.empty()) shared_loss_.add(h, s, std::move(undecided));
        now_.loss[at(s)] = std::min(loss, most);
        now_.gap[at(s)] = std::min(gap, most);
    }

    /// An upper bound of the advantage that involves nothing uncertain and no rounding but that of one
    /// difference: of the policy's own action, at the last step, of an action that leads to the same law or
    /// after which the policy earns nothing. Infinite otherwise.
    double certain_advantage(Step h, State s, Action a) const {
        if (actions_[at(a)].probability == 1) return 0;
        for (Action b = 0; b < shape_.actions; ++b) {
            if (actions_[at(b)].probability < 1) continue;
            const Index pair = shape_.pair(s, a);
            // Where the truth is no mixture, actions with the same mixtures may differ.
            const bool alike = last(h) || nothing_follows(pair) ||
                               (learned_.misspecification() == 0 && same_law(pair, shape_.pair(s, b)));
            if (alike) return actions_[at(a)].reward - actions_[at(b)].reward;
        }
        return std::numeric_limits<double>::infinity();
    }

    bool nothing_follows(Index pair) const {
        if (learned_.misspecification() > 0)
            return std::ranges::all_of(next_.upper, [](double value) { return value == 0; });
        return std::ranges::all_of(features_.targets(pair),
                                   [&](std::int32_t target) { return next_.upper[at(target)] == 0; });
    }

    bool same_law(Index one, Index other) const {
        const Index first = features_.first_entry(one), second = features_.first_entry(other);
        const auto count = features_.successors(one) * d_;
        return std::ranges::equal(features_.targets(one), features_.targets(other)) &&
               std::equal(features_.values().begin() + first * d_,
                          features_.values().begin() + first * d_ + count,
                          features_.values().begin() + second * d_);
    }

    double gap_advantage(Step h, State s, Action a) {
        const ActionBounds& action = actions_[at(a)];
        double reward = action.reward, spread = (1 - action.probability) * action.spread;
        if (!last(h)) std::ranges::copy(action.middle, difference_.begin());
        for (const ActionBounds& other : actions_) {
            if (other.probability == 0) continue;
            reward -= other.probability * other.reward;
            if (&other != &action) spread += other.probability * other.spread;
            if (last(h)) continue;
            for (std::size_t i = 0; i < difference_.size(); ++i)
                difference_[i] -= other.probability * other.middle[i];
        }
        const double slack = rounding_slack(1);
        if (last(h)) return reward + slack;
        const double by_middle = reward + learned_.set(h).range(difference_).upper + spread +
                                 2 * (1 - action.probability) * learned_.misspecification() * middle_span_;
        const double by_intervals =
            action.reward + backup_(h, shape_.pair(s, a), next_.upper).upper - bounds_.policy_lower(h, s);
        return std::min(by_middle, by_intervals) + slack;
    }

    /// An advantage is at most `constant` and what a member adds along `direction`, at most `upper`.
    struct LinearAdvantage {
        double constant = 0, upper = 0;
        std::vector<double> direction;  ///< sets x d
    };
    LinearAdvantage own_advantage() const { return {0, 0, std::vector<double>(at(sets_ * d_), 0.0)}; }

    /// By the exact expansion of both values. `following` is what decides whether it matters.
    LinearAdvantage linear_advantage(Step h, State s, Action a, double following) {
        LinearAdvantage result = own_advantage();
        double most = 0;
        for (Index set = first_set(h); set < sets_; ++set) {
            const auto part = std::span(result.direction).subspan(at(set * d_), at(d_));
            for (std::size_t i = 0; i < part.size(); ++i)
                part[i] = actions_[at(a)].sums[at(set * d_) + i] - mean_sums_[at(set * d_) + i];
            most += detail::change(learned_.sets()[at(set)], part).upper;
        }
        const double known = actions_[at(a)].value - now_.value[at(s)] + rounding_slack(1);
        result.constant = known + separate_remainders(a);
        result.upper = result.constant + most;
        if (result.upper + following <= 0) return result;
        result.constant = known + remainder_of_difference(h, s, a);
        result.upper = result.constant + most;
        return result;
    }

    void bound_value(Step h, State s) {
        const auto range = static_cast<double>(shape_.steps_after(h));
        const double value = now_.value[at(s)];
        Interval error{-now_.remainder[at(s)], now_.remainder[at(s)]};
        for (Index set = first_set(h); set < sets_; ++set) {
            const Interval part =
                detail::change(learned_.sets()[at(set)], std::span(mean_sums_).subspan(at(set * d_), at(d_)));
            error.lower += part.lower;
            error.upper += part.upper;
        }
        const double lower = bounds_.policy_lower(h, s), upper = bounds_.policy_upper(h, s);
        const double low = std::max({error.lower, lower - value, -range});
        const double high = std::min({error.upper, upper - value, range});
        // The other way round by rounding only.
        now_.low[at(s)] = std::min(low, high);
        now_.high[at(s)] = std::max(low, high);
        now_.upper[at(s)] = upper;
        now_.middle[at(s)] = 0.5 * (lower + upper);
        now_.radius[at(s)] = std::max(0.0, 0.5 * (upper - lower));
    }

    /// The mean over the start; not zero by underflow.
    double expected_loss(const std::vector<double>& loss) const {
        const StartLaw& start = learned_.model().start();
        const double mean = start.expect(loss);
        const bool some = std::ranges::any_of(
            start.atoms(), [&](const auto& atom) { return atom.second > 0 && loss[at(atom.first)] > 0; });
        return some ? std::max(mean, std::numeric_limits<double>::denorm_min()) : mean;
    }

    AdvantageBounds result() const {
        const StartLaw& start = learned_.model().start();
        const double slack = rounding_slack(shape_.horizon);
        const auto widened = [&](double loss) { return loss > 0 ? loss + slack : 0.0; };
        const double value = start.expect(next_.value);
        return {widened(std::min(expected_loss(next_.loss), shared_loss_.bound())),
                widened(expected_loss(next_.gap)),
                {std::max(0.0, value + start.expect(next_.low) - slack),
                 std::min(static_cast<double>(shape_.horizon), value + start.expect(next_.high) + slack)}};
    }

    const LearnedMixture& learned_;
    const DeviationTable& deviations_;
    const Reward& reward_;
    const Policy& policy_;
    const ValueBounds& bounds_;
    const Shape& shape_;
    const FeatureMap& features_;
    Index d_, sets_;
    detail::SetBackup backup_;
    detail::SecondOrder second_order_;
    detail::SharedLoss shared_loss_;
    std::vector<ActionBounds> actions_;
    StepBounds now_, next_;
    std::vector<double> mean_sums_, difference_;
    std::vector<double> law_difference_;  ///< a number a state, zero between uses
    detail::SecondOrder::Form form_;
    double value_span_ = 0, middle_span_ = 0;
};

}  // namespace

AdvantageBounds advantage_bounds(const LearnedMixture& learned, const DeviationTable& deviations,
                                 const Reward& reward, const Policy& policy, const ValueBounds& bounds) {
    const Shape& shape = learned.shape();
    expects(reward.shape() == shape && policy.shape() == shape,
            "reward and policy must have the model's shape ({} states, {} actions, horizon {})", shape.states,
            shape.actions, shape.horizon);
    for (const Matrix* values : {&bounds.policy_lower, &bounds.policy_upper, &bounds.optimal_upper})
        expects(values->rows() == shape.horizon + 1 && values->cols() == shape.states,
                "value bounds have {} rows of {}; must have {} rows of {}", values->rows(), values->cols(),
                shape.horizon + 1, shape.states);
    deviations.require_fit(learned);
    return AdvantageRecursion(learned, deviations, reward, policy, bounds).run();
}

}  // namespace alidade
