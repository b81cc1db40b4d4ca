#pragma once

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What a policy gives up and what it gains against the plan that is optimal in the model. Values are in
/// rewards, 0 to H.
struct PriceOfRobustness {
    double model_value = 0;          ///< of the policy in the model
    double optimal_model_value = 0;  ///< of the plan that is optimal in the model
    /// V^pi on the real system is at least this, on the event that every confidence set contains its true
    /// weights; rounding is allowed for.
    double guaranteed = 0;
    double optimal_guaranteed = 0;  ///< the same for the plan that is optimal in the model

    /// Value that is given up if the model is right; >= 0 up to rounding.
    double cost() const noexcept { return optimal_model_value - model_value; }
    /// Guaranteed value that is gained; may be negative for a policy that is not a robust plan.
    double gain() const noexcept { return guaranteed - optimal_guaranteed; }
};

/// A policy with the largest guaranteed value.
struct RobustPlan {
    Policy policy;      ///< deterministic; the first of equally good actions
    Matrix guaranteed;  ///< H+1 rows of S: L_h(s) <= V^pi_h(s), the last row zero; no slack is taken off
    PriceOfRobustness price;
};

/// Plans for the worst member of the confidence sets:
///   L_h(s) = max_a max(0, r + min_{theta in C_h} theta.phi_{L_{h+1}}(s,a)),
/// less what the misspecification can take [theory §3g]. With `solver` and no misspecification no policy has
/// a larger guarantee, up to the solver's 1e-9 a step, because the least expectation grows with L_{h+1}. The
/// closed forms need not grow with it where d > 2, nor does what a misspecification takes, which is a share
/// of the span of L_{h+1}: so there a policy may have a larger one; if the plan that is optimal in the
/// model is such a policy, it is the one returned, and `gain` is never negative.
RobustPlan robust_plan(const LearnedModel& learned, const Reward& reward,
                       WorstCase worst = WorstCase::closed_form, Threads threads = {});

/// What any policy is guaranteed and gives up, with the closed forms. The guarantee is that of the recursion
/// above, which a robust plan maximises; the lower end of its reward certificate's value is at least this.
PriceOfRobustness price_of_robustness(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                                      Threads threads = {});

/// The same plan behind the interface of all planners. It plans on the sets of the learned model that it was
/// made with, not on the model it is handed, which must have the same shape.
class RobustPlanner final : public Planner {
public:
    /// Throws InvalidArgument if there is none.
    explicit RobustPlanner(SharedLearned learned, Threads threads = {});

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    SharedLearned learned_;
    Threads threads_;
};

}  // namespace alidade
