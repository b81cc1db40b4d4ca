// Explores a system with a continuous state through a grid, and certifies what was learned of it.
#include <fmt/core.h>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/continuous.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/reservoir.hpp"

int main() {
    // The model: three inflow laws, and a grid over the level.
    const alidade::Reservoir reservoir({.cells = 100});
    const alidade::Problem problem = reservoir.problem();
    fmt::print("{} cells, {} actions, {} inflow laws; no law is off by more than {:.4g}\n",
               problem.shape().states, problem.shape().actions, problem.features().features(),
               problem.misspecification());

    // The real reservoir, which nobody sees but through the grid: the level stays continuous.
    const alidade::Matrix weights = (alidade::Matrix(1, 3) << 0.2, 0.5, 0.3).finished();
    alidade::ContinuousEnvironment real(
        reservoir.grid(), problem.shape().actions, problem.shape().horizon,
        [](alidade::Stream&, std::span<double> first) { first[0] = 0.5; },
        mixture_dynamics(reservoir.simulators(), weights));
    alidade::StepwiseDeployer system(real, 1);

    alidade::Exploration exploration(task_of(problem), {.algorithm = "hoeffding", .delta = 0.1});
    exploration.run(system, {.episodes = 20'000});

    const alidade::Knowledge& knowledge = exploration.best();
    fmt::print("any reward: loss at most {:.4f} of {}\n", knowledge.certificate.bound,
               problem.shape().horizon);
    for (const alidade::NamedReward& named : problem.rewards()) {
        const auto plan = alidade::backward_induction(knowledge.learned->model(), named.reward);
        const auto claim = alidade::certify_reward(knowledge, named.reward, plan.policy);
        fmt::print("{}: value in [{:.4f}, {:.4f}], loss at most {:.4f}\n", named.name, claim.value.lower,
                   claim.value.upper, claim.loss_bound);
    }
    return 0;
}
