#pragma once

#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/plan/planner.hpp"

namespace alidade {

/// What a plan is worth in the model it was made for, and whether its planner told the truth.
struct Measurement {
    double value = 0;        ///< of the policy, evaluated exactly (up to rounding)
    double optimal = 0;      ///< of the best policy, by backward induction
    double epsilon_opt = 0;  ///< optimal - value, at least 0: what the planner left on the table
    /// Whether the policy is as near to optimal as was claimed, up to rounding. True for a claim of infinity.
    bool accuracy_true = true;
    /// Whether the claimed value is the policy's, within the claimed accuracy where that is finite, and up to
    /// rounding. True where none was claimed.
    bool value_true = true;

    /// Whether everything that was claimed holds.
    bool claims_true() const noexcept { return accuracy_true && value_true; }
};

/// Checks a plan, believing nothing of it. "Up to rounding" is 1e-9 a step. Throws InvalidArgument if the
/// shapes of model, reward and policy differ.
Measurement measure(const TransitionModel& model, const Reward& reward, const Plan& plan);

}  // namespace alidade
