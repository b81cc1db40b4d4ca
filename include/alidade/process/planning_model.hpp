#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"

namespace alidade {

/// A way of writing a known model with one reward for a planner that is another program.
struct PlanningFormat {
    std::string name;       ///< as typed: "json"
    std::string extension;  ///< with the dot
    std::string summary;    ///< one sentence
    std::function<void(const std::filesystem::path&, const TransitionModel&, const Reward&)> write;
};

/// All such formats, the default first; docs/planners.md describes each.
const std::vector<PlanningFormat>& planning_formats();

/// The format of that name. Throws InvalidArgument with the names that exist.
const PlanningFormat& find_planning_format(std::string_view name);

}  // namespace alidade
