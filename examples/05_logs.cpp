// Learns from episodes that somebody logged, and says what they are worth.
#include <fmt/core.h>

#include "alidade/certify/model_fit.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"

int main() {
    const alidade::Problem problem = alidade::make_builtin("builtin:riverswim?length=4&horizon=6");
    alidade::Counts counts(problem.shared_features(), problem.shape().horizon);
    // What somebody else did: here random actions; read_episodes("log.jsonl", ...) reads a file of episodes.
    alidade::SimulatedEnvironment system(problem.true_model());
    const alidade::Policy policy = alidade::Policy::uniform(problem.shape());
    for (std::int64_t k = 0; k < 2'000; ++k) counts.add(run_episode(system, policy, 1, k));

    const alidade::Knowledge knowledge = alidade::learn(task_of(problem), counts, 0.1);
    const auto fit = alidade::check_model(problem.features(), counts, problem.homogeneous());
    fmt::print("{} episodes, any reward: loss at most {:.4f} of {}; they {} the model\n", counts.episodes(),
               knowledge.certificate.bound, problem.shape().horizon,
               fit.contradicted ? "contradict" : "do not contradict");
    return 0;
}
