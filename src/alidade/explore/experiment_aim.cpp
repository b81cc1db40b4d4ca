#include "alidade/explore/experiment_aim.hpp"

#include <algorithm>

namespace alidade {

std::optional<ExperimentAim> aim_of(const RewardFreeCertificate& certificate, const Policy& policy) {
    const auto& parts = certificate.contributions;
    if (parts.empty()) return std::nullopt;
    auto chosen = parts.begin();
    if (policy.is_deterministic()) {
        const auto served = std::ranges::find_if(parts, [&](const Contribution& part) {
            return policy.action(part.step, part.state) == part.action;
        });
        if (served != parts.end()) chosen = served;
    }
    return ExperimentAim{chosen->step, chosen->state, chosen->action, chosen->amount};
}

}  // namespace alidade
