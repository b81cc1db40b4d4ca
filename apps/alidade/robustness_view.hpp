#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/certify/robust_plan.hpp"
#include "alidade/files/reward_file.hpp"

namespace alidade::app {

/// {model_value, optimal_model_value, cost, guaranteed, optimal_guaranteed, gain}, in the unit of the
/// reward's file.
nlohmann::ordered_json to_json(const PriceOfRobustness& price, const Shape& shape, const RewardScale& scale);
/// What a robust plan gives up and gains, in words.
std::string describe(const PriceOfRobustness& price, const Shape& shape, const RewardScale& scale);

}  // namespace alidade::app
