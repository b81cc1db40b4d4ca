// Explores without a reward, then plans for one and certifies the plan.
#include <fmt/core.h>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"

int main() {
    const alidade::Problem problem = alidade::make_builtin("builtin:inventory");
    alidade::CountSplittingDeployer system(problem.true_model(), 1);  // the only one that knows the truth
    alidade::Exploration exploration(task_of(problem), {.algorithm = "likelihood", .delta = 0.1});
    exploration.run(system, {.episodes = 100'000});

    const alidade::Knowledge& knowledge = exploration.best();
    fmt::print("any reward: loss at most {:.4f}\n", knowledge.certificate.bound);
    for (const alidade::NamedReward& named : problem.rewards()) {
        const auto plan = alidade::backward_induction(knowledge.learned->model(), named.reward);
        const auto claim = alidade::certify_reward(knowledge, named.reward, plan.policy);
        fmt::print("{}: value in [{:.4f}, {:.4f}], loss at most {:.4f}\n", named.name, claim.value.lower,
                   claim.value.upper, claim.loss_bound);
    }
    return 0;
}
