#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include "alidade/model/policy.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// One episode as a system reports it.
struct SystemEpisode {
    std::int64_t episode = 0;     ///< its number, counted over the run from 0; fixed before it was run
    std::vector<State> states;    ///< 1 .. H of them, in order
    std::vector<Action> actions;  ///< as many as states, or one fewer where it broke off after a state
    /// False where it broke off. What was seen counts: dropping an episode by its outcome would bias every
    /// bound.
    bool complete = true;

    bool operator==(const SystemEpisode&) const = default;
};

/// A system that cannot go on: a fact about the world, not a mistake of the caller. What was handed over
/// before stays the caller's.
class SystemFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Runs experiments on a real system (or a simulated one) and reports every episode.
class System {
public:
    virtual ~System() = default;
    virtual const Shape& shape() const = 0;
    /// Whether an episode is fixed by its number and the seed: run again, it is the same. False for plants,
    /// where each attempt is an experiment of its own.
    virtual bool seeded() const = 0;
    /// Runs episodes first .. first+count-1 of `policy` and hands them to `accept` in ascending order of
    /// their numbers, each once, in as many calls as it likes; when accept has returned, the episodes are the
    /// caller's. Stops early, between episodes, when `stop` says so. Returns how many were handed over.
    /// `accept` and `stop` (either may throw, and `stop` may be empty) are called on the caller's thread
    /// only. Throws InvalidArgument if a number is negative or the policy is of another shape, and
    /// SystemFailed if the system cannot go on.
    virtual std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                             const std::function<void(std::span<const SystemEpisode>)>& accept,
                             const std::function<bool()>& stop) = 0;
};

}  // namespace alidade
