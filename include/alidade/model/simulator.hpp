#pragma once

#include <functional>
#include <span>

#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// Draws the next point of a system with a continuous state: all randomness comes from `random`, and `next`,
/// which is as long as `state` and is not the same memory, receives the point.
using Simulator =
    std::function<void(std::span<const double> state, Action action, Stream& random, std::span<double> next)>;

}  // namespace alidade
