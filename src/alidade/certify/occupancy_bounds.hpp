#pragma once

#include <optional>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Upper bounds of how likely the policy is in a state: row h, column s bounds P(s_h = s) under every member
/// of the confidence sets, without misspecification. By
///   P(s_{h+1} = s') = theta_h . sum_{s,a} P(s_h = s) pi_h(a|s) phi(s,a,s'),
/// in which bounds may replace the P(s_h = s), as every member makes the products theta . phi probabilities;
/// one member for all states. At most one. `first` is taken at the first step instead of the policy's action.
Matrix occupancy_bounds(const LearnedMixture& learned, const Policy& policy,
                        std::optional<Action> first = std::nullopt, Threads threads = {});

}  // namespace alidade::detail
