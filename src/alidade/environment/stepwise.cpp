#include "alidade/environment/deployment.hpp"
#include "batch.hpp"

namespace alidade {

StepwiseDeployer::StepwiseDeployer(Environment& environment, std::uint64_t seed)
    : environment_(environment), seed_(seed) {}

void StepwiseDeployer::deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                              Counts& counts) {
    detail::expect_batch(environment_.shape(), policy, first_episode, episodes, counts);
    for (std::int64_t k = first_episode; k < first_episode + episodes; ++k) {
        counts.add(run_episode(environment_, policy, seed_, k));
    }
}

}  // namespace alidade
