#pragma once

#include "alidade/model/episode.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// A system that can only be stepped: no rewards, no kernel to look at.
class Environment {
public:
    virtual ~Environment() = default;
    virtual const Shape& shape() const = 0;
    /// Starts an episode; returns the first state.
    virtual State reset(Stream& random) = 0;
    /// Takes an action at the current step; returns the next state.
    virtual State step(Action action, Stream& random) = 0;
};

/// Runs one episode. Step h of episode k draws from Stream(seed, simulation, k, h), on any machine:
/// first the action, if the policy is stochastic, then the next state. (The start is drawn from step H.)
Episode run_episode(Environment& environment, const Policy& policy, std::uint64_t seed, std::int64_t episode);

}  // namespace alidade
