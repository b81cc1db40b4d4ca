#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/certify/near_reward.hpp"
#include "alidade/certify/reward_class.hpp"
#include "alidade/files/reward_file.hpp"
#include "console.hpp"

namespace alidade::app {

/// bound, most, vacuous, method, candidates.
nlohmann::ordered_json to_json(const ClassCertificate& certificate);
/// `words`: "every reward in [0, 1] at once that ...".
std::string describe(const ClassCertificate& certificate, const std::string& words, const Console& console);

/// In the unit of the reward's file. A radius without bound is null, and so is none; `proved_optimal` tells.
nlohmann::ordered_json to_json(const NearCertificate& certificate, const RewardScale& scale);
/// `eta` is in that unit.
std::string describe(const NearCertificate& certificate, double eta, const RewardScale& scale);

}  // namespace alidade::app
