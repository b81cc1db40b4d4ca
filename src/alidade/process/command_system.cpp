#include "alidade/process/command_system.hpp"

#include <utility>

#include "system_fleet.hpp"

namespace alidade {

CommandSystem::CommandSystem(const Task& task, CommandSystemOptions options)
    : fleet_(std::make_unique<detail::SystemFleet>(task, std::move(options))) {}

CommandSystem::~CommandSystem() = default;

const Shape& CommandSystem::shape() const {
    return fleet_->shape();
}

bool CommandSystem::seeded() const {
    return fleet_->info().seeded;
}

bool CommandSystem::batches() const {
    return fleet_->info().batches && fleet_->info().seeded;
}

std::int64_t CommandSystem::restarts() const {
    return fleet_->restarts();
}

std::int64_t CommandSystem::run(const Policy& policy, std::int64_t first, std::int64_t count,
                                const std::function<void(std::span<const SystemEpisode>)>& accept,
                                const std::function<bool()>& stop) {
    return fleet_->run(policy, first, count, accept, stop);
}

}  // namespace alidade
