#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// By how much a reward may be off: all rewards r with |r - r_0| <= eta * unit(h,s,a) everywhere. They may
/// leave [0, 1], and need not be known otherwise.
struct RewardTolerance {
    Reward unit;     ///< 1 everywhere: eta is the same for all; 0 where the reward is known
    double eta = 0;  ///< >= 0

    /// The same everywhere.
    static RewardTolerance uniform(const Shape& shape, double eta) {
        return {Reward::constant(shape, 1), eta};
    }
};

/// What is certain of one policy under every reward near a given one at once, on the event that every
/// confidence set contains its true weights (probability 1 - failure_probability). Policy, reward and
/// tolerance may have been chosen after seeing everything. Proofs: docs/algorithms/reward-classes.md.
struct NearCertificate {
    double loss_bound = 0;  ///< V* - V^pi is at most this under each of the rewards; from 0 to `most`
    double most = 0;        ///< no loss under any of them can exceed this
    bool vacuous = false;   ///< the loss bound is `most`
    std::vector<std::pair<std::string, double>> methods;  ///< loss bounds by the name of their argument
    /// The policy is proved to be optimal under every reward within radius * unit: of a uniform tolerance,
    /// within so much. Infinite where no other action could ever be better; nothing where the policy is not
    /// proved optimal under r_0 itself. Does not depend on eta.
    std::optional<double> radius;
    double failure_probability = 0;  ///< delta
};

/// By three arguments, of which the least counts:
///  - `plain`: the best value for r_0 + eta less the worst of the policy for r_0 - eta;
///  - `shift`: the loss for r_0, and what the two policies can gain and lose by eta;
///  - `advantage` (of rows `gap`): the recursion of the loss with advantages that are widened by what eta
///    can do to a difference of two actions.
/// Throws InvalidArgument unless reward, policy and unit have the model's shape, and eta is finite and not
/// negative.
NearCertificate certify_near(const Knowledge& knowledge, const DeviationTable& deviations,
                             const Reward& reward, const Policy& policy, const RewardTolerance& tolerance,
                             Threads threads = {});
NearCertificate certify_near(const Knowledge& knowledge, const Reward& reward, const Policy& policy,
                             const RewardTolerance& tolerance, Threads threads = {});

}  // namespace alidade
