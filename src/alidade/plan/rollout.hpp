#pragma once

#include <optional>

#include "alidade/model/policy.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Improves a base policy: at (h, s) it plans the next `depth` steps exactly, as if the base policy were
/// followed after them. The result is at least as good as the base policy at every step and state
/// (docs/planners.md has the proof), but may be far from optimal, so it claims accuracy infinity.
class RolloutPlanner final : public Planner {
public:
    /// `depth` >= 1 steps; without a base policy, uniformly random actions.
    explicit RolloutPlanner(Index depth = 1, std::optional<Policy> base = std::nullopt);

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    Index depth_;
    std::optional<Policy> base_;
};

}  // namespace alidade::detail
