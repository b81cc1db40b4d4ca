#pragma once

#include <cstdint>

#include "alidade/certify/knowledge.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct MemberAttackOptions {
    Index starts = 8;        ///< searches from rewards and members of their own, >= 1
    Index steps = 400;       ///< proposals of each, >= 1
    std::uint64_t seed = 0;  ///< of the random ones
    Threads threads;         ///< the result does not depend on them
};

/// The largest loss of the exact plan that a local search found over all members of the confidence sets and
/// all rewards: from below, what a reward-free certificate bounds from above.
struct MemberAttack {
    double loss = 0;
    Reward reward;     ///< the adversary's
    Matrix weights;    ///< the adversary's member: one row a set
    Index tried = 0;   ///< members and rewards that were tried
    double bound = 0;  ///< the reward-free certificate

    /// How many times what was found is certified; infinite if nothing was.
    double slack() const noexcept;
};

/// For fixed policies the loss is linear in the weights of a step: the search goes to the member of a set
/// that is farthest along that slope. And it is linear in the reward, of which the plan must be greedy in the
/// model: the worst is a linear program. Where neither gains it changes a policy in one place. Needs weights
/// in confidence sets, without misspecification and one set a step: throws InvalidArgument otherwise.
MemberAttack attack_members(const Knowledge& knowledge, const MemberAttackOptions& options = {});

}  // namespace alidade
