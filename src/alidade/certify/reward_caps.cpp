#include "reward_caps.hpp"

#include <algorithm>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

bool leads_anywhere(const LearnedModel& learned) {
    const LearnedMixture* const mixture = learned.mixture();
    return mixture != nullptr && mixture->misspecification() > 0 && mixture->reach() == Reach::anywhere;
}

RewardCaps::RewardCaps(const ValueRanges& ranges) : horizon_(ranges.horizon), all_(true) {
    for (Step h = 0; h < horizon_; ++h) {
        step_.push_back(ranges.at(h));
        reward_.push_back(1);
        value_.push_back(static_cast<double>(horizon_ - h));
        next_.push_back(ranges.at(h) - 1);
    }
}

RewardCaps::RewardCaps(const LearnedModel& learned, const RewardClass& rewards)
    : horizon_(learned.shape().horizon),
      all_(!rewards.of_histories()),
      shape_(learned.shape()),
      step_(alidade::at(horizon_), 0.0),
      reward_(step_),
      value_(step_) {
    expects(rewards.shape() == shape_,
            "the class of rewards has {} states, {} actions and horizon {}; the model {}, {} and {}",
            rewards.shape().states, rewards.shape().actions, rewards.shape().horizon, shape_.states,
            shape_.actions, shape_.horizon);
    bool alike = true;
    for (Step h = 0; h < horizon_; ++h) {
        const auto [least, most] = std::ranges::minmax(rewards.caps().at(h));
        reward_[alidade::at(h)] = std::min(most, rewards.total());
        alike = alike && least == most;
        all_ = all_ && least == 1;
    }
    if (alike)
        fill_steps(rewards.total());
    else
        fill_pairs(learned, rewards);
}

// N_h = min(T, c_{h+1} + N_{h+1}): where all pairs of a step have the same cap, all have the same N.
void RewardCaps::fill_steps(double total) {
    next_.assign(alidade::at(horizon_), 0.0);
    for (Step h = horizon_ - 1; h >= 0; --h) {
        const std::size_t i = alidade::at(h);
        if (h + 1 < horizon_) {
            step_[i] = value_[i + 1];
            next_[i] = step_[i + 1];
        }
        value_[i] = std::min(total, reward_[i] + step_[i]);
    }
}

void RewardCaps::fill_pairs(const LearnedModel& learned, const RewardClass& rewards) {
    const auto states = alidade::at(shape_.states), pairs = alidade::at(shape_.pairs());
    after_.assign(alidade::at(shape_.learned_steps()) * pairs, 0.0);
    later_ = after_;
    state_.assign(alidade::at(horizon_) * states, 0.0);
    std::vector<double> values(states, 0.0), ahead(states, 0.0);  // N_h(s), and that of the next step
    const bool anywhere = leads_anywhere(learned);
    for (Step h = horizon_ - 1; h >= 0; --h) {
        const auto caps = rewards.caps().at(h);
        const bool last = h + 1 == horizon_;
        const double* const next = last ? nullptr : state_.data() + alidade::at(h + 1) * states;
        const double most = std::ranges::max(ahead);
        const double most_later = last ? 0 : *std::max_element(next, next + states);
        for (State s = 0; s < shape_.states; ++s) {
            double value = 0, following = 0;
            for (Action a = 0; a < shape_.actions; ++a) {
                const Index pair = shape_.pair(s, a);
                double after = anywhere ? most : 0, later = anywhere ? most_later : 0;
                if (!last && !anywhere)
                    for (const std::int32_t target : learned.model().successors().targets(pair)) {
                        after = std::max(after, ahead[alidade::at(target)]);
                        later = std::max(later, next[target]);
                    }
                if (!last) {
                    after_[alidade::at(h) * pairs + alidade::at(pair)] = after;
                    later_[alidade::at(h) * pairs + alidade::at(pair)] = later;
                }
                following = std::max(following, after);
                value = std::max(value, std::min(rewards.total(), caps[alidade::at(pair)] + after));
            }
            values[alidade::at(s)] = value;
            state_[alidade::at(h) * states + alidade::at(s)] = following;
            value_[alidade::at(h)] = std::max(value_[alidade::at(h)], value);
            step_[alidade::at(h)] = std::max(step_[alidade::at(h)], following);
        }
        // Not below that of later steps, whose states need not be anybody's successors.
        if (!last) step_[alidade::at(h)] = std::max(step_[alidade::at(h)], step_[alidade::at(h + 1)]);
        std::swap(values, ahead);
    }
    start_ = std::move(ahead);
}

double RewardCaps::at(Step h, Index pair) const noexcept {
    return uniform() ? step_[alidade::at(h)] : after_[alidade::at(h * shape_.pairs() + pair)];
}

double RewardCaps::later(Step h, Index pair) const noexcept {
    return uniform() ? next_[alidade::at(h)] : later_[alidade::at(h * shape_.pairs() + pair)];
}

double RewardCaps::of_state(Step h, State s) const noexcept {
    return uniform() ? step_[alidade::at(h)] : state_[alidade::at(h * shape_.states + s)];
}

double RewardCaps::most_at(const StartLaw& start) const {
    return uniform() ? value_.front() : start.expect(start_);
}

double RewardCaps::square_at(const StartLaw& start) const {
    if (uniform()) return step_.front() * step_.front();
    std::vector<double> squares(alidade::at(shape_.states));
    for (State s = 0; s < shape_.states; ++s) squares[alidade::at(s)] = of_state(0, s) * of_state(0, s);
    return start.expect(squares);
}

bool RewardCaps::nothing_follows(const StartLaw& start) const {
    return std::ranges::all_of(start.atoms(), [&](const auto& atom) { return of_state(0, atom.first) == 0; });
}

void RewardCaps::describe(Step h, ErrorStep& step) const {
    step.range = step_[alidade::at(h)];
    if (uniform()) {
        step.later = next_[alidade::at(h)];
        return;
    }
    const auto pairs = alidade::at(shape_.pairs());
    step.ranges = std::span(after_).subspan(alidade::at(h) * pairs, pairs);
    step.laters = std::span(later_).subspan(alidade::at(h) * pairs, pairs);
}

std::span<const double> RewardCaps::mask(Step h, std::span<const double> divergences,
                                         std::vector<double>& scratch) const {
    if (uniform() && step_[alidade::at(h)] > 0) return divergences;
    scratch.assign(divergences.begin(), divergences.end());
    for (std::size_t pair = 0; pair < scratch.size(); ++pair)
        if (at(h, static_cast<Index>(pair)) == 0) scratch[pair] = 0;
    return scratch;
}

}  // namespace alidade::detail
