#pragma once

#include <string>
#include <vector>

#include "alidade/environment/draws.hpp"
#include "alidade/environment/system_deployer.hpp"
#include "alidade/process/command_system.hpp"
#include "alidade/process/system_protocol.hpp"
#include "support/files.hpp"
#include "support/random_models.hpp"
#include "walk.hpp"

/// The system of plant.cpp, and the same in this process.
namespace alidade::testing {

inline const Shape plant_shape{5, 2, 4};
constexpr std::uint64_t plant_seed = 11;

/// A chain that slips back with this probability; its end is absorbing if asked for.
inline BaseKernel chain_kernel(double slips, bool absorbing) {
    BaseKernel kernel{.rows = 10, .columns = 5, .offsets = {0}};
    for (State s = 0; s < 5; ++s) {
        const bool stays = absorbing && s == 4;
        const State right = s < 4 ? s + 1 : s;
        if (stays) {
            kernel.targets.insert(kernel.targets.end(), {4, 4});
            kernel.probabilities.insert(kernel.probabilities.end(), {1, 1});
        } else {
            kernel.targets.insert(kernel.targets.end(), {0, 0, static_cast<std::int32_t>(right)});
            kernel.probabilities.insert(kernel.probabilities.end(), {1, slips, 1 - slips});
        }
        const auto before = kernel.offsets.back();
        kernel.offsets.insert(kernel.offsets.end(), {before + 1, before + (stays ? 2 : 3)});
    }
    return kernel;
}

inline Task plant_task(bool absorbing = false, Index horizon = plant_shape.horizon) {
    const std::vector<BaseKernel> kernels{chain_kernel(0.1, absorbing), chain_kernel(0.8, absorbing)};
    return {.features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(5, 2, kernels)),
            .horizon = horizon,
            .homogeneous = true};
}

inline CommandSystemOptions plant_options(const std::string& words = "", Index workers = 1) {
    return {.command = std::string(ALIDADE_TEST_PLANT) + " " + words,
            .seed = plant_seed,
            .workers = workers,
            .timeout = 20,
            .back_off = 0.01};
}

inline Policy always_right(const Shape& shape = plant_shape) {
    return Policy::deterministic(
        shape, std::vector<std::int32_t>(static_cast<std::size_t>(shape.horizon * shape.states), 1));
}

/// What the plant does in these episodes, worked out here.
inline std::vector<SystemEpisode> true_episodes(const Policy& policy, std::int64_t first,
                                                std::int64_t count) {
    std::vector<SystemEpisode> episodes;
    const Shape& shape = policy.shape();
    for (std::int64_t k = first; k < first + count; ++k) {
        walk::Walk walk(static_cast<int>(shape.states), detail::episode_seed(plant_seed, k));
        SystemEpisode episode{.episode = k};
        for (Step h = 0; h < shape.horizon; ++h) {
            Stream random(plant_seed, Purpose::simulation, static_cast<std::uint64_t>(k),
                          static_cast<std::uint64_t>(h));
            episode.states.push_back(walk.state());
            episode.actions.push_back(detail::sample_action(random, policy, h, walk.state()));
            walk.step(static_cast<int>(episode.actions.back()));
        }
        episodes.push_back(std::move(episode));
    }
    return episodes;
}

/// All that a system hands over, and what it throws in the end, if it does.
struct Reported {
    std::vector<SystemEpisode> episodes;
    std::int64_t returned = -1;
    std::string failure;
};

inline Reported report_of(System& system, const Policy& policy, std::int64_t first, std::int64_t count,
                          const std::function<bool()>& stop = {}) {
    Reported reported;
    const auto accept = [&](std::span<const SystemEpisode> batch) {
        reported.episodes.insert(reported.episodes.end(), batch.begin(), batch.end());
    };
    try {
        reported.returned = system.run(policy, first, count, accept, stop);
    } catch (const SystemFailed& error) {
        reported.failure = error.what();
    }
    return reported;
}

}  // namespace alidade::testing
