#pragma once

#include <string>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "exploration_run.hpp"
#include "table.hpp"

namespace alidade::app {

/// One plan of the demo: its certificate, and, since the demo knows the truth, what it really loses.
struct DemoPlan {
    std::string reward;
    std::string planner;
    double model_value = 0;  ///< of the policy in the learned model
    double true_value = 0;   ///< of the policy on the true system
    double true_loss = 0;    ///< below the best policy on the true system
    RewardCertificate certificate;
    Policy policy;
};

/// What the demo did, in plain sentences.
std::string explanation(const Explored& explored, const Run& store);
/// One row a plan.
Table plans_table(const std::vector<DemoPlan>& plans);
/// How to read that table.
std::string reading_aid();

}  // namespace alidade::app
