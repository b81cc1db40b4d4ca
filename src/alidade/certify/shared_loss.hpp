#pragma once

#include <memory>
#include <queue>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/threads.hpp"
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
///
/// Where the first state is known nothing is left out at the first step: D_0 = max_a (A_0(a) + P_a D_1), so
/// for each first action there is a sum of its own, over later steps and from where that action leads.
class SharedLoss {
public:
    /// Reads the learned model, which must outlive it.
    SharedLoss(const LearnedMixture& learned, const Policy& policy, Threads threads = {});

    /// Whether actions of the state count: the truth is a mixture of base models, so that upper bounds of
    /// probabilities multiply, and the policy may come there.
    bool counts(Step h, State s) const;
    /// Whether first actions are taken by `add_first`, as the only first state is known.
    bool splits(Step h) const noexcept { return h == 0 && splits_; }
    /// Takes the undecided actions, one at least, of a state that counts.
    void add(Step h, State s, std::vector<UndecidedAction> actions);
    /// Takes a first action that may be as good as any: A_0(a) alone is at most what `advantage` says, and
    /// A_0(a) + E[D_1] at most `bound`.
    void add_first(Action a, double bound, UndecidedAction advantage);
    /// The bound of the loss from the start, without slack; infinite where there is none. So many choices,
    /// the largest ones, are bounded by the convex sets themselves: each takes as long as all the rest.
    double bound(int sharpened = 1) const;

private:
    struct UndecidedState {
        Step h = 0;
        State s = 0;
        double most = 0;  ///< the largest bound of its actions
        LinearBound chord;
        std::vector<UndecidedAction> actions;
    };
    struct WeighedState {
        double reach = 0;  ///< bound of its probability
        std::shared_ptr<const UndecidedState> state;
        double most() const { return reach * state->most; }
    };
    /// One action or none in each of the first states of the list.
    struct Choice {
        double bound = 0;         ///< of every choice that continues it
        std::size_t decided = 0;  ///< how many states are decided
        bool sharp = false;       ///< bounded by the sets themselves, not by their ellipsoids
        double bounds = 0;        ///< sum over the chosen actions
        LinearBound linear;       ///< likewise
    };
    /// Of all states from some place in the list on.
    struct Rest {
        double most = 0;
        LinearBound chord;
    };
    /// What follows one first action, or the policy from the start.
    struct Path {
        Matrix reach;
        std::vector<WeighedState> states;  ///< a heap of those that weigh most, the least first
        Rest rest;                         ///< all others
        bool possible = true;              ///< whether the first action is worth taking
        double bound = 0;                  ///< of the path, by other means
        UndecidedAction first;             ///< zero where it is not split
    };

    static bool before(const WeighedState& one, const WeighedState& other);
    /// sum_k over the sets of the range of (theta_k - theta~_k) . direction_k.
    Interval range(const std::vector<double>& direction) const;
    LinearBound chord(const UndecidedState& state) const;
    void settle(Choice& choice, const Rest& rest) const;
    void sharpen(Choice& choice, const Rest& rest) const;
    /// Choices that were not followed, the largest first, and what is left from each place of the list on.
    struct Search {
        struct Less {
            bool operator()(const Choice& one, const Choice& other) const { return one.bound < other.bound; }
        };
        std::priority_queue<Choice, std::vector<Choice>, Less> open;
        std::vector<Rest> rests;
    };
    Search search(const Path& path) const;

    const LearnedMixture& learned_;
    bool applies_, splits_;
    std::size_t numbers_;  ///< sets x d
    std::vector<Path> paths_;
};

}  // namespace alidade::detail
