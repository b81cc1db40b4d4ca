#pragma once

#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Receding horizon: at (h, s) it plans the next `depth` steps exactly, as if nothing could be earned
/// after them. Depth 1 is greedy; a depth of at least H is exact. In between it may be arbitrarily bad
/// (a reward beyond its sight is not sought), so it claims accuracy infinity.
class LookaheadPlanner final : public Planner {
public:
    /// `depth` >= 1 steps.
    explicit LookaheadPlanner(Index depth = 2);

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    Index depth_;
};

}  // namespace alidade::detail
