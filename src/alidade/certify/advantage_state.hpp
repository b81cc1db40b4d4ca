#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "advantage_step.hpp"
#include "alidade/certify/deviation.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/types.hpp"
#include "law_difference.hpp"
#include "near_widening.hpp"
#include "second_order.hpp"
#include "set_backup.hpp"
#include "shared_loss.hpp"

namespace alidade::detail {

/// What the losses of one policy under one reward are bounded from; all of it must outlive its users.
struct AdvantageQuestion {
    const LearnedMixture& learned;
    const DeviationTable& deviations;
    const Reward& reward;
    const Policy& policy;
    const ValueBounds& bounds;
    const NearRewards* near = nullptr;  ///< all rewards near it, or none: it alone
    int sharpened = 1;                  ///< choices that SharedLoss bounds by the convex sets themselves
};

/// What the actions of one state add to SharedLoss, which takes them in the order of the states.
struct FoundActions {
    struct First {
        Action action = 0;
        double bound = 0;
        UndecidedAction advantage;
    };
    std::vector<UndecidedAction> undecided;
    std::vector<First> first;
    double margin = std::numeric_limits<double>::infinity();  ///< least of the state's actions (margin_of)
};

/// The recursions of advantage_bounds at one (step, state) after another, with the scratch memory of one
/// thread: reads what is known of the next step, writes what belongs to its own state.
class AdvantageState {
public:
    /// `step` is where all states of a step read and write; `second_order` must have been prepared for it.
    AdvantageState(const AdvantageQuestion& question, const SecondOrder& second_order,
                   const SharedLoss& shared_loss, AdvantageStep& step);

    void run(Step h, State s, FoundActions& found);

private:
    bool last(Step h) const { return h + 1 >= shape_.horizon; }
    /// Sets that matter from step h on; where data are pooled it is always the one.
    Index first_set(Step h) const { return last(h) ? sets_ : learned_.set_index(h); }
    void examine(Step h, State s, Action a);
    /// Bound of (P - P~)(V^pi - V~) at the next step: the deviation times how much V^pi - V~ can vary, or its
    /// expansion, in which only the remainder is bounded so.
    double own_remainder(Step h, Index pair, ActionBounds& action);
    /// Bound of Rem(s,a) - Rem(s,pi), of each by itself.
    double separate_remainders(Action a) const;
    /// The same, or that of the difference, in which what is of second order in both, and what follows both,
    /// cancels.
    double remainder_of_difference(Step h, State s, Action a);
    /// sum_s' |P~(s'|s,a) - P~(s'|s,pi)| value(s').
    double expected_difference(Step h, State s, Action a, const std::vector<double>& value);
    /// Most that the truth, off its mixture, moves the expectation of a value: the misspecification times its
    /// span over what it may lead to; `everywhere` is that over all states.
    double off_mixture(Index pair, const std::vector<double>& value, double everywhere) const;
    /// Whether the truth may lead from a pair to any state.
    bool anywhere() const { return learned_.misspecification() > 0 && learned_.reach() == Reach::anywhere; }
    /// How much V^pi - V~ can vary over what the truth may lead to.
    double oscillation(Index pair) const;
    void average(Step h, State s);
    void bound_losses(Step h, State s, FoundActions& found);
    /// An upper bound of the advantage that involves nothing uncertain and no rounding but that of one
    /// difference: of the policy's own action, at the last step, of an action that leads to the same law or
    /// after which the policy earns nothing. Infinite otherwise.
    double certain_advantage(Step h, State s, Action a) const;
    bool nothing_follows(Index pair) const;
    double gap_advantage(Step h, State s, Action a);
    /// An advantage is at most `constant` and what a member adds along `direction`, at most `upper`.
    struct LinearAdvantage {
        double constant = 0, upper = 0;
        std::vector<double> direction;  ///< sets x d
    };
    LinearAdvantage own_advantage() const { return {0, 0, std::vector<double>(at(sets_ * d_), 0.0)}; }
    /// By the exact expansion of both values. `following` is what decides whether it matters.
    LinearAdvantage linear_advantage(Step h, State s, Action a, double following);
    void widen(Step h, State s, Action a, double& rough, LinearAdvantage& linear, FoundActions& found);
    void bound_value(Step h, State s);

    const LearnedMixture& learned_;
    const DeviationTable& deviations_;
    const Reward& reward_;
    const Policy& policy_;
    const ValueBounds& bounds_;
    const NearRewards* near_;
    const SecondOrder& second_order_;
    const SharedLoss& shared_loss_;
    AdvantageStep& step_;
    const Shape& shape_;
    const FeatureMap& features_;
    Index d_, sets_;
    SetBackup backup_;
    std::vector<ActionBounds> actions_;
    std::vector<double> mean_sums_, difference_;
    LawDifference law_difference_;
    std::optional<NearWidening> widening_;
    SecondOrder::Scratch scratch_;
    SecondOrder::Form form_;
};

}  // namespace alidade::detail
