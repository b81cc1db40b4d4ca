#include "advantage_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../theory/radii.hpp"
#include "range_about_weights.hpp"
#include "same_rows.hpp"

namespace alidade::detail {

AdvantageState::AdvantageState(const AdvantageQuestion& question, const SecondOrder& second_order,
                               const SharedLoss& shared_loss, AdvantageStep& step)
    : learned_(question.learned),
      deviations_(question.deviations),
      reward_(question.reward),
      policy_(question.policy),
      bounds_(question.bounds),
      near_(question.near),
      second_order_(second_order),
      shared_loss_(shared_loss),
      step_(step),
      shape_(learned_.shape()),
      features_(learned_.model().features()),
      d_(features_.features()),
      sets_(static_cast<Index>(learned_.sets().size())),
      backup_(learned_),
      actions_(at(shape_.actions)),
      mean_sums_(at(sets_ * d_)),
      difference_(at(d_)),
      law_difference_(learned_) {
    if (question.near != nullptr) widening_.emplace(learned_, deviations_, policy_, *question.near);
    for (ActionBounds& action : actions_) {
        action.sums.resize(at(sets_ * d_));
        action.middle.resize(at(d_));
    }
}

void AdvantageState::run(Step h, State s, FoundActions& found) {
    for (Action a = 0; a < shape_.actions; ++a) examine(h, s, a);
    average(h, s);
    bound_losses(h, s, found);
    bound_value(h, s);
}

void AdvantageState::examine(Step h, State s, Action a) {
    ActionBounds& action = actions_[at(a)];
    const Index pair = shape_.pair(s, a);
    action.probability = policy_.probability(h, s, a);
    action.reward = reward_.at(h, s, a);
    action.value = action.reward;
    action.remainder = action.spread = action.unsettled = 0;
    std::ranges::fill(action.sums, 0.0);
    if (last(h)) return;
    // Q~ = r + P~ V~. The remainder is (P - P~) e, what the truth is off the mixture by, and the next step's
    // remainder, averaged under P~, which is known [docs/algorithms/likelihood.md, Lemma 10].
    action.value += learned_.model().expect(h, pair, step_.next.value);
    action.remainder = own_remainder(h, pair, action) +
                       off_mixture(pair, step_.next.value, step_.value_span) +
                       learned_.model().expect(h, pair, step_.next.remainder);
    action.spread = backup_.upper(h, pair, step_.next.radius);
    std::ranges::fill(action.middle, 0.0);
    const auto targets = features_.targets(pair);
    const auto law = learned_.model().probabilities(h, pair);
    // M_{h->h} = phi_{V~} belongs to the step's own weights, M_{h->k} with k > h is the successors' mean
    // under P~. Where data are pooled both fall into the one set, so they are added before a maximum is
    // taken.
    double* const own = action.sums.data() + learned_.set_index(h) * d_;
    const Index first = first_set(h) * d_, numbers = sets_ * d_;
    for (std::size_t j = 0; j < law.size(); ++j) {
        const auto target = at(targets[j]);
        const auto phi = features_.phi(features_.first_entry(pair) + static_cast<Index>(j));
        const double* const sums = step_.next.sums.data() + static_cast<Index>(target) * numbers;
        for (Index i = first; i < numbers; ++i) action.sums[at(i)] += law[j] * sums[i];
        for (Index i = 0; i < d_; ++i) {
            own[i] += phi[at(i)] * step_.next.value[target];
            action.middle[at(i)] += phi[at(i)] * step_.next.middle[target];
        }
    }
}

double AdvantageState::own_remainder(Step h, Index pair, ActionBounds& action) {
    const double tau = deviations_.at(h, pair);
    const double by_variation = tau * oscillation(pair);
    // Off the mixture the expansion has further terms.
    if (learned_.misspecification() > 0) return by_variation;
    double most = 0;
    // P - P~ has mass zero and |Rem| <= R, so (P - P~) Rem is at most TV times 2 max R.
    for (const std::int32_t target : features_.targets(pair))
        most = std::max(most, step_.next.remainder[at(target)]);
    action.unsettled = 2 * tau * most;
    second_order_.form(h, pair, scratch_, action.second_order);
    // Both bound the same (P - P~) e, so the lesser does.
    return std::min(by_variation, second_order_.bound(action.second_order) + action.unsettled);
}

double AdvantageState::separate_remainders(Action a) const {
    const ActionBounds& action = actions_[at(a)];
    // Rem(s,a) - sum_b pi(b) Rem(s,b): the action's own term is left with 1 - pi(a). Only sizes are known of
    // the others, so they are added.
    double sum = (1 - action.probability) * action.remainder;
    for (const ActionBounds& other : actions_)
        if (&other != &action) sum += other.probability * other.remainder;
    return sum;
}

double AdvantageState::remainder_of_difference(Step h, State s, Action a) {
    const ActionBounds& action = actions_[at(a)];
    const double apart = separate_remainders(a);
    if (last(h) || learned_.misspecification() > 0) return apart;
    // The terms of both actions are subtracted before their sizes are taken. That need not be less: where the
    // actions lead to different places, nothing cancels.
    double together =
        expected_difference(h, s, a, step_.next.remainder) + (1 - action.probability) * action.unsettled;
    form_ = action.second_order;
    for (const ActionBounds& other : actions_) {
        if (other.probability == 0) continue;
        if (&other != &action) together += other.probability * other.unsettled;
        form_.add(-other.probability, other.second_order);
    }
    return std::min(apart, together + second_order_.bound(form_));
}

double AdvantageState::expected_difference(Step h, State s, Action a, const std::vector<double>& value) {
    return law_difference_(
        h, s, a, [&](Action b) { return actions_[at(b)].probability; }, value);
}

double AdvantageState::oscillation(Index pair) const {
    // P - P~ has mass zero, so what e has in common at all successors drops out.
    double most = -std::numeric_limits<double>::infinity(), least = -most;
    const auto count = [&](std::size_t target) {
        most = std::max(most, step_.next.high[target]);
        least = std::min(least, step_.next.low[target]);
    };
    if (anywhere())
        for (State s = 0; s < shape_.states; ++s) count(at(s));
    else
        for (const std::int32_t target : features_.targets(pair)) count(at(target));
    return std::max(0.0, most - least);
}

void AdvantageState::average(Step h, State s) {
    double value = 0, remainder = 0;
    std::ranges::fill(mean_sums_, 0.0);
    for (const ActionBounds& action : actions_) {
        if (action.probability == 0) continue;
        value += action.probability * action.value;
        remainder += action.probability * action.remainder;
        for (Index i = first_set(h) * d_; i < sets_ * d_; ++i)
            mean_sums_[at(i)] += action.probability * action.sums[at(i)];
    }
    step_.now.value[at(s)] = value;
    step_.now.remainder[at(s)] = remainder;
    std::ranges::copy(mean_sums_, step_.now.sums.begin() + s * sets_ * d_);
}

void AdvantageState::bound_losses(Step h, State s, FoundActions& found) {
    double loss = 0, gap = 0;
    // First rewards differ between the policy and an optimal one: H-h, not H-1-h [likelihood §9.6].
    const double most = near_ != nullptr ? near_->most(h, s)
                                         : std::min(static_cast<double>(shape_.steps_after(h) + 1),
                                                    bounds_.optimal_upper(h, s) - bounds_.policy_lower(h, s) +
                                                        rounding_slack(shape_.horizon));
    if (widening_) widening_->enter(h, s);
    for (Action a = 0; a < shape_.actions; ++a) {
        const Index pair = shape_.pair(s, a);
        const double certain = certain_advantage(h, s, a);
        const bool own = actions_[at(a)].probability == 1;
        double rough = own ? certain : std::min(certain, gap_advantage(h, s, a));
        const double following = backup_.upper(h, pair, step_.next.loss);
        LinearAdvantage linear = own ? own_advantage() : linear_advantage(h, s, a, following);
        if (widening_ && !own) widen(h, s, a, rough, linear, found);
        gap = std::max(gap, rough + backup_.upper(h, pair, step_.next.gap));
        // Any upper bound of the advantage will do, so the least is taken [docs/algorithms/likelihood.md,
        // Lemma 9]. That is why `advantage` is never above `gap`.
        const double sharp = std::min(rough, linear.upper);
        loss = std::max(loss, sharp + following);
        const bool possible = own || sharp + following > 0;
        if (!possible || !shared_loss_.counts(h, s)) continue;
        const double bound = std::min(sharp + following, most);
        if (shared_loss_.splits(h))
            found.first.push_back({a, bound, {sharp, {linear.constant, linear.direction}}});
        else if (!own)
            found.undecided.push_back({bound, {linear.constant + following, linear.direction}});
    }
    // Both began at 0, as V* - V^pi is never negative.
    step_.now.loss[at(s)] = std::min(loss, most);
    step_.now.gap[at(s)] = std::min(gap, most);
}

// Advantages under the reward become those under all rewards near it; how much of them they stand is kept.
void AdvantageState::widen(Step h, State s, Action a, double& rough, LinearAdvantage& linear,
                           FoundActions& found) {
    const double widening = (*widening_)(a);
    if (near_->counts(h, s))
        found.margin = std::min(found.margin, margin_of(std::min(rough, linear.upper), widening));
    rough = widened(rough, widening, near_->scale);
    linear.constant = widened(linear.constant, widening, near_->scale);
    linear.upper = widened(linear.upper, widening, near_->scale);
}

double AdvantageState::certain_advantage(Step h, State s, Action a) const {
    if (actions_[at(a)].probability == 1) return 0;
    for (Action b = 0; b < shape_.actions; ++b) {
        if (actions_[at(b)].probability < 1) continue;
        const Index pair = shape_.pair(s, a);
        // Where the truth is no mixture, actions with the same mixtures may differ.
        const bool alike =
            last(h) || nothing_follows(pair) ||
            (learned_.misspecification() == 0 && same_rows(features_, pair, shape_.pair(s, b)));
        if (alike) return actions_[at(a)].reward - actions_[at(b)].reward;
    }
    return std::numeric_limits<double>::infinity();
}

double AdvantageState::off_mixture(Index pair, const std::vector<double>& value, double everywhere) const {
    if (learned_.misspecification() == 0 || anywhere()) return learned_.misspecification() * everywhere;
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const std::int32_t target : features_.targets(pair)) {
        least = std::min(least, value[at(target)]);
        most = std::max(most, value[at(target)]);
    }
    return learned_.misspecification() * (most - least);
}

bool AdvantageState::nothing_follows(Index pair) const {
    if (anywhere()) return std::ranges::all_of(step_.next.upper, [](double value) { return value == 0; });
    return std::ranges::all_of(features_.targets(pair),
                               [&](std::int32_t target) { return step_.next.upper[at(target)] == 0; });
}

double AdvantageState::gap_advantage(Step h, State s, Action a) {
    const ActionBounds& action = actions_[at(a)];
    double reward = action.reward, spread = (1 - action.probability) * action.spread;
    const auto off = [&](Action b) {
        return off_mixture(shape_.pair(s, b), step_.next.middle, step_.middle_span);
    };
    // Both the action and the others of the policy may be off the mixture.
    double moved = 2 * (1 - action.probability) * learned_.misspecification() * step_.middle_span;
    if (learned_.misspecification() > 0 && !anywhere() && !last(h)) {
        moved = (1 - action.probability) * off(a);
        for (Action b = 0; b < shape_.actions; ++b)
            if (b != a && actions_[at(b)].probability > 0) moved += actions_[at(b)].probability * off(b);
    }
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
    // One member serves both actions in `difference_`; |V - middle| <= radius costs each of them the mean of
    // the radius, and off the mixture each may move by the misspecification times the span [oracle §E].
    const double by_middle = reward + learned_.set(h).range(difference_).upper + spread + moved;
    // Q(s,a) <= r + max P U, and V^pi(s) >= L.
    const double by_intervals =
        action.reward + backup_.upper(h, shape_.pair(s, a), step_.next.upper) - bounds_.policy_lower(h, s);
    return std::min(by_middle, by_intervals) + slack;
}

AdvantageState::LinearAdvantage AdvantageState::linear_advantage(Step h, State s, Action a,
                                                                 double following) {
    LinearAdvantage result = own_advantage();
    double most = 0;
    for (Index set = first_set(h); set < sets_; ++set) {
        // Members of different sets are chosen freely of each other: the maximum of the sum is the sum of
        // maxima.
        const auto part = std::span(result.direction).subspan(at(set * d_), at(d_));
        for (std::size_t i = 0; i < part.size(); ++i)
            part[i] = actions_[at(a)].sums[at(set * d_) + i] - mean_sums_[at(set * d_) + i];
        most += range_about_weights(learned_.sets()[at(set)], part).upper;
    }
    const double known = actions_[at(a)].value - step_.now.value[at(s)] + rounding_slack(1);
    result.constant = known + separate_remainders(a);
    result.upper = result.constant + most;
    // Decided: the action cannot be better, and the dearer remainder would not change that.
    if (near_ == nullptr && result.upper + following <= 0) return result;
    result.constant = known + remainder_of_difference(h, s, a);
    result.upper = result.constant + most;
    return result;
}

void AdvantageState::bound_value(Step h, State s) {
    const auto range = static_cast<double>(shape_.steps_after(h));
    const double value = step_.now.value[at(s)];
    Interval error{-step_.now.remainder[at(s)], step_.now.remainder[at(s)]};
    for (Index set = first_set(h); set < sets_; ++set) {
        const Interval part = range_about_weights(learned_.sets()[at(set)],
                                                  std::span(mean_sums_).subspan(at(set * d_), at(d_)));
        error.lower += part.lower;
        error.upper += part.upper;
    }
    const double lower = bounds_.policy_lower(h, s), upper = bounds_.policy_upper(h, s);
    // Three bounds of V^pi - V~: the expansion, the interval by states, and H-1-h, as the first reward is the
    // same on both sides [likelihood §9.6].
    const double low = std::max({error.lower, lower - value, -range});
    const double high = std::min({error.upper, upper - value, range});
    // The other way round by rounding only.
    step_.now.low[at(s)] = std::min(low, high);
    step_.now.high[at(s)] = std::max(low, high);
    step_.now.upper[at(s)] = upper;
    step_.now.middle[at(s)] = 0.5 * (lower + upper);
    step_.now.radius[at(s)] = std::max(0.0, 0.5 * (upper - lower));
}

}  // namespace alidade::detail
