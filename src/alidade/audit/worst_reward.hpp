#pragma once

#include <optional>
#include <vector>

#include "alidade/model/policy.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade::detail {

/// Of all rewards in [0, 1] for which `plan` is greedy in the model, in every state of every step, the one by
/// which `best` is the most better than `plan` under the truth: a linear program (COIN-OR Clp) in the reward
/// and the values in the model, H S A + H S numbers. A share of 1e-6 of it pays for following the plan, so
/// that no other action ties with the plan's, nor is better by what the solver leaves open. Nothing where the
/// solver finds none. Both policies are deterministic.
std::optional<std::vector<double>> worst_reward(const TransitionModel& model, const TransitionModel& truth,
                                                const Policy& best, const Policy& plan);

}  // namespace alidade::detail
