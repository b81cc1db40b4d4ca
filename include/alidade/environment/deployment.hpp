#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/environment/environment.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Runs one policy for a batch of episodes and counts what happened.
class Deployer {
public:
    virtual ~Deployer() = default;
    /// Adds episodes first_episode .. first_episode+episodes-1 of `policy` to `counts`. Throws
    /// InvalidArgument if a number is negative or a shape is not the system's, and ModelContradiction if an
    /// episode makes a transition that no base model can: the episodes before that one stay counted, of that
    /// one nothing is, and those after it are not run.
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
/// does not depend on their number; few episodes cost about what stepping them would.
/// The split at (deployment, step, state) draws from Stream(seed, splitting, first_episode, step*S+state).
/// The split over first states, and all of a batch of one episode, which is walked, draw from step H*S.
class CountSplittingDeployer final : public Deployer {
public:
    CountSplittingDeployer(TransitionModel model, std::uint64_t seed);
    /// `counts` must be over the model's successors.
    void deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                Counts& counts) override;

private:
    /// How many episodes are in each state, and the states where there are some.
    struct StateCounts {
        std::vector<std::int64_t> episodes;  // one a state; all zero between deployments
        std::vector<std::int32_t> occupied;
        void arrive(std::int32_t state, std::int64_t count);
    };

    void walk(const Policy& policy, Stream& random, Counts& counts) const;
    void split_start(std::int64_t episodes, Stream& random);
    void split_state(const Policy& policy, Step h, State s, Stream& random, Counts& counts);
    void split_pair(Step h, Index pair, std::int64_t episodes, Stream& random, Counts& counts);

    TransitionModel model_;
    std::uint64_t seed_;
    std::vector<double> start_weights_;
    StateCounts here_, next_;
    std::vector<std::int64_t> cells_;    // scratch of one split over successors or first states
    std::vector<std::int64_t> actions_;  // scratch of one split over actions
};

}  // namespace alidade
