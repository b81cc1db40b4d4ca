#pragma once

#include <optional>

#include "alidade/certify/reward_free.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What an experiment is for: of what the last certificate found uncertain, the largest part that the policy
/// can do something about.
struct ExperimentAim {
    Step step = 0;
    State state = 0;
    Action action = 0;
    double share = 0;  ///< of the certificate, in reward

    bool operator==(const ExperimentAim&) const = default;
};

/// What the policy is for, by the parts that the certificate names: the largest one whose action it takes;
/// without such, the largest. None if no part is named.
std::optional<ExperimentAim> aim_of(const RewardFreeCertificate& certificate, const Policy& policy);

}  // namespace alidade
