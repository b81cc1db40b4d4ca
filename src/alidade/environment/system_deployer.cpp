#include "alidade/environment/system_deployer.hpp"

#include <utility>
#include <vector>

#include "batch.hpp"

namespace alidade {

SystemDeployer::SystemDeployer(System& system, std::function<bool()> stop)
    : system_(system), stop_(std::move(stop)) {}

void SystemDeployer::deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                            Counts& counts) {
    detail::expect_batch(system_.shape(), policy, first_episode, episodes, counts);
    std::int64_t next = first_episode;
    const auto accept = [&](std::span<const SystemEpisode> batch) {
        for (const SystemEpisode& episode : batch) {
            ensures(episode.episode == next && next < first_episode + episodes,
                    "the system reported episode {}, where {} was next", episode.episode, next);
            counts.add(episode.states, episode.actions);
            if (!episode.complete) ++broken_off_;
            ++next;
        }
    };
    system_.run(policy, first_episode, episodes, accept, stop_);
}

std::int64_t StepwiseSystem::run(const Policy& policy, std::int64_t first, std::int64_t count,
                                 const std::function<void(std::span<const SystemEpisode>)>& accept,
                                 const std::function<bool()>& stop) {
    constexpr std::size_t together = 1024;
    expects(first >= 0 && count >= 0, "{} episodes from episode {}; neither may be negative", count, first);
    std::vector<SystemEpisode> ready;
    std::int64_t accepted = 0;
    const auto hand_over = [&] {
        if (ready.empty()) return;
        accept(ready);
        accepted += std::ssize(ready);
        ready.clear();
    };
    for (std::int64_t k = first; k < first + count && !(stop && stop()); ++k) {
        Episode episode = run_episode(environment_, policy, seed_, k);
        ready.push_back({k, std::move(episode.states), std::move(episode.actions), true});
        if (ready.size() == together) hand_over();
    }
    hand_over();
    return accepted;
}

}  // namespace alidade
