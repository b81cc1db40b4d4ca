#pragma once

#include <cstdint>

#include "alidade/model/counts.hpp"
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
    /// Takes an action at the current step; returns the next state. An episode takes H actions.
    virtual State step(Action action, Stream& random) = 0;
};

/// Runs one episode. Step h of episode k draws from Stream(seed, simulation, k, h), on any machine:
/// first the action, if the policy is stochastic, then the next state. (The start is drawn from step H.)
/// All H actions are taken, though what follows the last is not recorded. Throws InvalidArgument if the
/// policy is of another shape or the environment returns a state that is not 0 .. S-1.
Episode run_episode(Environment& environment, const Policy& policy, std::uint64_t seed, std::int64_t episode);

}  // namespace alidade
