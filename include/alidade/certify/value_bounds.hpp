#pragma once

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Bounds of true values that hold for all members of the confidence sets at once [theory §3g]:
///   U_h = max_a min(H-h, r + max_{theta in C_h} theta.phi_U),  L_h = max(0, r + min theta.phi_L) along
/// the policy, and likewise its upper value. Each has H+1 rows of S, the last zero; no slack is added.
struct ValueBounds {
    Matrix policy_lower;   ///< L <= V^pi
    Matrix policy_upper;   ///< V^pi is at most this
    Matrix optimal_upper;  ///< V* <= U
};

ValueBounds value_bounds(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                         Threads threads = {});

}  // namespace alidade
