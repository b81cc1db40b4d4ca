// Plans on a model that is known, from its transition probabilities to a policy.
#include <fmt/core.h>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"

int main() {
    // A machine that is new, worn or broken; it is run (action 0) or repaired (action 1).
    const alidade::BaseKernel machine{.rows = 6,
                                      .columns = 3,
                                      .offsets = {0, 3, 4, 6, 7, 8, 9},
                                      .targets = {0, 1, 2, 0, 1, 2, 0, 2, 0},
                                      .probabilities = {0.8, 0.15, 0.05, 1, 0.7, 0.3, 1, 1, 1}};
    const auto model = alidade::TransitionModel::from_kernel(machine, 2, 12, alidade::StartLaw(0));
    const alidade::Reward output(model.shape(), {1, 0, 0.8, 0, 0, 0});  // of (state, action)

    const alidade::OptimalPlan plan = alidade::backward_induction(model, output);
    const double earned = alidade::evaluate(model, plan.policy, output).value;
    fmt::print("best output of 12 days: {:.4f}; a worn machine is {} on the first day\n", plan.value,
               plan.policy.action(0, 1) == 1 ? "repaired" : "run");
    return earned >= plan.value - 1e-9 ? 0 : 1;
}
