#pragma once

#include <span>
#include <vector>

#include "alidade/certify/reward_class.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/transition_operator.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Whether the truth may lead from every pair to every state: off its mixture, it may.
bool leads_anywhere(const LearnedModel& learned);

/// N_h(s,a): the most that a reward of a class can still pay after the reward of (h,s,a), whatever is done
/// and wherever it leads; and what recursions of errors need besides. For rewards in [0,1] it is H-1-h
/// [docs/algorithms/reward-classes.md].
class RewardCaps {
public:
    /// Of all rewards in [0, 1]: the range of values.
    explicit RewardCaps(const ValueRanges& ranges);
    /// Of a class. A pair leads to its successors; to every state where the truth may be off its mixture and
    /// lead anywhere. Throws InvalidArgument unless the class has the model's shape.
    RewardCaps(const LearnedModel& learned, const RewardClass& rewards);

    /// Whether they are those of all rewards in [0, 1] of the present state, so that N_h = H-1-h.
    bool of_all_rewards() const noexcept { return all_; }
    /// N_h(s,a) of h < H-1.
    double at(Step h, Index pair) const noexcept;
    /// The most that an error of values can be at a successor: the largest N_{h+1}(s',a').
    double later(Step h, Index pair) const noexcept;
    /// The largest N_h(s,a) of a state, 0 at the last step.
    double of_state(Step h, State s) const noexcept;
    /// At least every N_k(s,a) of steps k >= h.
    double of_step(Step h) const noexcept { return step_[static_cast<std::size_t>(h)]; }
    /// The largest reward of step h, and the largest sum of it and what follows: for spans of values.
    double reward(Step h) const noexcept { return reward_[static_cast<std::size_t>(h)]; }
    double value(Step h) const noexcept { return value_[static_cast<std::size_t>(h)]; }
    /// Means over the start: of the most that an episode can pay, and of the square of what it can after the
    /// first reward.
    double most_at(const StartLaw& start) const;
    double square_at(const StartLaw& start) const;
    /// Whether nothing can follow the first reward: then nothing needs to be known.
    bool nothing_follows(const StartLaw& start) const;

    /// Fills in the ranges of a step of a recursion.
    void describe(Step h, ErrorStep& step) const;
    /// Divergences of a step, with zeros where nothing can follow: what comes after does not matter
    /// there. `scratch` is where they are if any is changed.
    std::span<const double> mask(Step h, std::span<const double> divergences,
                                 std::vector<double>& scratch) const;

private:
    bool uniform() const noexcept { return after_.empty(); }
    void fill_steps(double total);
    void fill_pairs(const LearnedModel& learned, const RewardClass& rewards);

    Index horizon_ = 0;
    bool all_ = false;
    Shape shape_;                                // none of all rewards
    std::vector<double> step_, reward_, value_;  // H numbers each
    std::vector<double> next_;                   // of uniform classes: later(h), H numbers
    std::vector<double> after_, later_;          // (H-1) x pairs, unless uniform
    std::vector<double> state_;                  // H x states: of_state, unless uniform
    std::vector<double> start_;                  // a number a state: reward and what follows, unless uniform
};

}  // namespace alidade::detail
