// Plans on a model that is known: the warehouse, under its true demand.
#include <fmt/core.h>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"

int main() {
    const alidade::Problem problem = alidade::make_builtin("builtin:inventory");
    const alidade::MixtureModel model = problem.true_model();
    const alidade::Shape& shape = problem.shape();
    fmt::print("{}: {} states, {} actions, {} base models, {} steps\n", problem.name(), shape.states,
               shape.actions, problem.features().features(), shape.horizon);

    for (const alidade::NamedReward& named : problem.rewards()) {
        const alidade::OptimalPlan plan = alidade::backward_induction(model, named.reward);
        fmt::print("{:<16} best expected sum {:.4f}\n", named.name, plan.value);

        // What dynamic programming claims, its policy must earn.
        const double earned = alidade::evaluate(model, plan.policy, named.reward).value;
        if (earned < plan.value - 1e-9 || earned > plan.value + 1e-9) {
            fmt::print("the policy earns {} instead\n", earned);
            return 1;
        }
    }
    return 0;
}
