#pragma once

#include <optional>

#include "alidade/model/policy.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Policy iteration: a sweep evaluates the policy and then, at every step and state, takes an action that is
/// best against these values, keeping the present one where none is strictly better. No sweep makes the
/// policy worse anywhere; sweep k makes the last k steps optimal, so that after at most H sweeps it is exact
/// and the next one changes nothing. Worth it where a good policy is known already.
class PolicyIterationPlanner final : public Planner {
public:
    /// `start`: the policy to improve; without one, always the first action. `sweeps` >= 0: at most so many;
    /// 0: until nothing changes. When it stops before that, the claimed accuracy is the sum over the steps of
    /// the largest gain that one more sweep sees, which bounds the loss.
    explicit PolicyIterationPlanner(std::optional<Policy> start = std::nullopt, Index sweeps = 0);

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    std::optional<Policy> start_;
    Index sweeps_;
};

}  // namespace alidade::detail
