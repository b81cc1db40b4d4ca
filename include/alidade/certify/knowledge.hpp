#pragma once

#include <cstdint>
#include <vector>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"

namespace alidade {

/// A learned model with the claim about it.
struct Knowledge {
    LearnedModel learned;
    RewardFreeCertificate certificate;
    std::int64_t episodes = 0;  ///< episodes that the confidence sets rest on
};

}  // namespace alidade
