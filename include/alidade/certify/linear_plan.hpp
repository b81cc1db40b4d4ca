#pragma once

#include "alidade/confidence/learned_linear.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A plan by optimistic least-squares value iteration, and what it claims of itself.
struct LinearPlan {
    Policy policy;  ///< deterministic; of clipped values that tie, the larger before it was clipped
    Matrix values;  ///< H+1 rows of S: V_h >= V*_h on the event, the last row zero
    double optimistic_value = 0;  ///< of the start: V* is at most this, on the event
};

/// The paper's Algorithm 4: Q_h = r + min{n, phi . w^(V_{h+1}) + n u}, n = H-1-h, greedy; every V is
/// regressed anew, on V_{h+1} itself [theory §2, errata 44 and 45]. Departures: the range is n and not H, and
/// the reward, which is known, is not clipped; it need not be linear. Throws InvalidArgument if the shapes
/// differ.
LinearPlan linear_plan(const LearnedLinear& learned, const Reward& reward);

/// What Algorithm 4 loses at most, for every reward in [0,1], by its own argument: E_0 at the start, with
///   E_h(s) = max_a min{n, 3 n u + phi . w^(E_{h+1})}
/// [docs/algorithms/lsvi.md, Theorem 4]. It holds for its plans alone; certificates hold for any.
double linear_plan_bound(const LearnedLinear& learned);

/// The same plan behind the interface of all planners. It plans by the regressions of the learned model that
/// it was made with, not on the model it is handed, which must have the same shape.
class LinearPlanner final : public Planner {
public:
    /// Throws InvalidArgument unless a linear MDP was learned.
    explicit LinearPlanner(SharedLearned learned);

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    SharedLearned learned_;
};

}  // namespace alidade
