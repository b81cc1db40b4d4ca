#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/certify/near_reward.hpp"
#include "alidade/certify/reward_class.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/run/run_record.hpp"
#include "console.hpp"

namespace alidade::app {

/// bound, most, vacuous, method, candidates.
nlohmann::ordered_json to_json(const ClassCertificate& certificate);
/// `words`: "every reward in [0, 1] at once that ...".
std::string describe(const ClassCertificate& certificate, const std::string& words, const Console& console);

/// Adds "classes": what is certified of rewards with a total of at most 1, of sets that are ours and models
/// that are not so large that it would be noticed.
void add_classes(nlohmann::ordered_json& certificate, const Knowledge& knowledge, const RunOptions& options,
                 Threads threads);

/// In the unit of the reward's file. A radius without bound is null, and so is none; `proved_optimal` tells.
nlohmann::ordered_json to_json(const NearCertificate& certificate, const RewardScale& scale);
/// `eta` is in that unit.
std::string describe(const NearCertificate& certificate, double eta, const RewardScale& scale);

}  // namespace alidade::app
