#pragma once

#include <cstdint>
#include <memory>

#include "alidade/model/policy.hpp"

namespace alidade {

/// One experiment: a policy and how many episodes to run it for.
struct Deployment {
    std::shared_ptr<const Policy> policy;
    std::int64_t episodes = 1;  ///< fewer may be run, never more
};

}  // namespace alidade
