#pragma once

#include <cstdint>
#include <functional>

#include "alidade/environment/deployment.hpp"
#include "alidade/environment/system.hpp"

namespace alidade {

/// Counts what a system reports. An episode that broke off counts up to the last transition seen.
class SystemDeployer final : public Deployer {
public:
    /// `system` must outlive the deployer; `stop` (may be empty) is asked between episodes, and true ends a
    /// batch early.
    explicit SystemDeployer(System& system, std::function<bool()> stop = {});
    /// As Deployer::deploy, but for fewer episodes if it is stopped. Throws SystemFailed if the system cannot
    /// go on: the episodes before stay counted.
    void deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                Counts& counts) override;

    /// Episodes that broke off, of all that were counted.
    std::int64_t broken_off() const noexcept { return broken_off_; }

private:
    System& system_;
    std::function<bool()> stop_;
    std::int64_t broken_off_ = 0;
};

/// An environment as a system: stepped in this process, seeded, one episode after the other.
class StepwiseSystem final : public System {
public:
    /// `environment` must outlive the system.
    StepwiseSystem(Environment& environment, std::uint64_t seed) : environment_(environment), seed_(seed) {}

    const Shape& shape() const override { return environment_.shape(); }
    bool seeded() const override { return true; }
    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                     const std::function<void(std::span<const SystemEpisode>)>& accept,
                     const std::function<bool()>& stop) override;

private:
    Environment& environment_;
    std::uint64_t seed_;
};

}  // namespace alidade
