#include "alidade/plan/planner.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"

namespace alidade {

Measurement measure(const TransitionModel& model, const Reward& reward, const Plan& plan) {
    Measurement result;
    result.value = evaluate(model, plan.policy, reward).value;
    result.optimal = backward_induction(model, reward).value;
    result.epsilon_opt = std::max(0.0, result.optimal - result.value);
    const double rounding = 1e-9 * static_cast<double>(model.shape().horizon);
    // Written so that a claim of NaN is false.
    result.accuracy_true = result.epsilon_opt <= plan.claimed_accuracy + rounding;
    if (plan.claimed_value) {
        const double allowed =
            std::isfinite(plan.claimed_accuracy) ? std::max(0.0, plan.claimed_accuracy) : 0;
        result.value_true = std::abs(*plan.claimed_value - result.value) <= allowed + rounding;
    }
    return result;
}

}  // namespace alidade
