#pragma once

#include <cstdint>

#include "alidade/model/counts.hpp"
#include "draws.hpp"

namespace alidade::detail {

/// Throws InvalidArgument unless a batch can be deployed in a system of this shape.
inline void expect_batch(const Shape& system, const Policy& policy, std::int64_t first_episode,
                         std::int64_t episodes, const Counts& counts) {
    expect_system_shape(system, policy.shape(), "policy");
    expect_system_shape(system, counts.shape(), "table of counts");
    expects(first_episode >= 0 && episodes >= 0,
            "a deployment of {} episodes from episode {}; neither may be negative", episodes, first_episode);
}

}  // namespace alidade::detail
