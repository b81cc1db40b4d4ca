#pragma once

#include <cstdint>

#include "alidade/environment/environment.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/policy.hpp"

namespace alidade {

/// Runs one policy for a batch of episodes and counts what happened.
class Deployer {
public:
    virtual ~Deployer() = default;
    /// Adds episodes first_episode .. first_episode+episodes-1 of `policy` to `counts`.
    virtual void deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                        Counts& counts) = 0;
};

/// Steps any environment, episode after episode.
class StepwiseDeployer final : public Deployer {
public:
    /// `environment` must outlive the deployer.
    StepwiseDeployer(Environment& environment, std::uint64_t seed);
    void deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                Counts& counts) override;

private:
    Environment& environment_;
    std::uint64_t seed_;
};

/// Draws the counts of a whole deployment at once: at each step the episodes in a state split over
/// actions and successors multinomially. The law is exactly that of independent episodes, and the cost
/// does not depend on their number. A batch of one episode is stepped instead, at the same law.
/// The split at (deployment, step, state) draws from Stream(seed, splitting, first_episode, step*S+state).
class CountSplittingDeployer final : public Deployer {
public:
    CountSplittingDeployer(MixtureModel model, std::uint64_t seed);
    void deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                Counts& counts) override;

private:
    MixtureModel model_;
    std::uint64_t seed_;
};

}  // namespace alidade
