#pragma once

#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// constant + sum_k (theta_k - theta~_k) . direction_k, for members theta of the sets.
struct LinearBound {
    double constant = 0;
    std::vector<double> direction;  ///< sets x d
};

/// An action that may be better than the policy's: A(s,a) + E[D_{h+1}] is at most `linear`, and at most
/// `bound`.
struct UndecidedAction {
    double bound = 0;
    LinearBound linear;
};

/// A bound of the loss V* - V^pi in which one member of the sets serves all states, steps and actions. The
/// recursion of the loss lets every state choose its own, though a member that favours an action in one state
/// mostly speaks against another action in the next. Following the policy instead of the best one,
///   V* - V^pi = E^pi[sum_h d_h(s_h)],  d_h = max_a (A_h(s,a) + P_a D_{h+1} - P_pi D_{h+1}) >= 0,
/// of which -P_pi D_{h+1} <= 0 is left out. With upper bounds mu of the states' probabilities, the loss is at
/// most the largest, over members and over one action or none in each undecided state, of the sum of mu
/// times what `UndecidedAction` says: a maximum over choices of support functions of sums of directions,
/// which is found by branch and bound, and from above where the search is cut short. What is not yet chosen
/// is bounded by chords: max(0, linear) is convex, so below the chord over the range of `linear`, which is
/// linear again.
class SharedLoss {
public:
    /// Reads the learned model and the policy, which must outlive it.
    SharedLoss(const LearnedModel& learned, const Policy& policy);

    /// Whether there is such a bound: the truth must be a mixture, and of base models, so that upper bounds
    /// of probabilities multiply.
    bool applies() const noexcept { return applies_; }
    /// Whether actions of the state count: the policy may come there.
    bool counts(Step h, State s) const { return applies_ && reach_(h, s) > 0; }
    /// Takes the undecided actions, one at least, of a state that counts.
    void add(Step h, State s, std::vector<UndecidedAction> actions);
    /// The bound of the loss from the start, without slack; infinite where it does not apply.
    double bound() const;

private:
    struct UndecidedState {
        double reach = 0;  ///< bound of its probability
        double most = 0;   ///< that times the largest bound of its actions
        LinearBound chord;
        Step h = 0;
        State s = 0;
        std::vector<UndecidedAction> actions;
    };
    /// One action or none in each of the first states of the list.
    struct Choice {
        double bound = 0;         ///< of every choice that continues it
        std::size_t decided = 0;  ///< how many states are decided
        double bounds = 0;        ///< sum over the chosen actions
        LinearBound linear;       ///< likewise
    };
    /// Of all states from some place in the list on.
    struct Rest {
        double most = 0;
        LinearBound chord;
    };

    static bool before(const UndecidedState& one, const UndecidedState& other);
    /// sum_k over the sets of the range of (theta_k - theta~_k) . direction_k.
    Interval range(const std::vector<double>& direction) const;
    LinearBound chord(const UndecidedState& state) const;
    void settle(Choice& choice, const Rest& rest) const;
    double search() const;

    const LearnedModel& learned_;
    bool applies_, single_start_;
    std::size_t numbers_;  ///< sets x d
    Matrix reach_;
    std::vector<UndecidedState> states_;  ///< a heap of those that weigh most, the least first
    Rest rest_;                           ///< all others
    double first_ = 0;                    ///< the largest bound at the only first state
};

}  // namespace alidade::detail
