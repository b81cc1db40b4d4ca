#pragma once

#include <functional>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/random/stream.hpp"

namespace alidade::detail {

/// The exact plan of the learned model and what it costs on the truth.
struct TrueLoss {
    Policy policy;
    double optimal = 0;  ///< V*
    double value = 0;    ///< V^pi
    double loss() const { return optimal - value; }
};

TrueLoss measure_loss(const LearnedModel& learned, const TransitionModel& truth, const Reward& reward);

/// Local search over 0/1 rewards for a larger true loss, `steps` proposals from `start`. Every proposal
/// is shown to `visit` with whether it was accepted.
void climb(const LearnedModel& learned, const TransitionModel& truth, const Reward& start, Index steps,
           Stream& random, const std::function<void(const Reward&, const TrueLoss&, bool accepted)>& visit);

}  // namespace alidade::detail
