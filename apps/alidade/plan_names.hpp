#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reward_batch.hpp"

namespace alidade::app {

/// Where a batch's policies go: DIR/NAME.json for the reward NAME or its file's name. Refuses two of a kind.
std::vector<std::filesystem::path> policy_files(const std::string& folder,
                                                const std::vector<ChosenReward>& rewards);

/// Under which names the plans for rewards are kept with the run: `name`, or `name`-REWARD for each of
/// several, with '-' for what a name cannot have. None if `name` is empty. Throws UserError if one is no
/// name, or two are the same.
std::vector<std::string> plan_names(const std::string& name, const std::vector<ChosenReward>& rewards,
                                    bool several);

}  // namespace alidade::app
