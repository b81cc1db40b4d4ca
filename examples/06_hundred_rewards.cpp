// Certifies plans for a hundred rewards at once: all bounds hold together.
#include <fmt/core.h>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reward_catalogue.hpp"

int main() {
    const alidade::Problem problem = alidade::make_builtin("builtin:inventory?capacity=6");
    alidade::CountSplittingDeployer system(problem.true_model(), 1);
    alidade::Exploration exploration(task_of(problem), {.delta = 0.1});
    exploration.run(system, {.episodes = 20'000});

    const alidade::Knowledge& knowledge = exploration.best();
    std::vector<alidade::RewardQuestion> questions;
    for (std::uint64_t k = 0; k < 100; ++k) {
        alidade::Stream random(k, alidade::Purpose::reward, 0, 0);
        const auto reward = random_reward(problem.shape(), alidade::RandomRewardKind::sparse, random);
        questions.push_back({reward, backward_induction(knowledge.learned->model(), reward).policy});
    }
    double worst = 0;
    for (const auto& claim : certify_rewards(knowledge, questions, 2))
        worst = std::max(worst, claim.loss_bound);
    fmt::print("100 rewards: no plan loses more than {:.4f}; for any other, at most {:.4f}\n", worst,
               knowledge.certificate.bound);
    return 0;
}
