#pragma once

#include <string>

#include "alidade/files/reward_file.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"

namespace alidade::app {

/// The reward of a name that `alidade reward list` shows, with parameters if it takes any. Throws UserError.
Reward make_named_reward(const std::string& name, const Problem& problem);

/// The reward that --reward names: a file (.json or .npz), or a name as above. Says what a rescaling did.
/// Throws UserError.
ScaledReward choose_reward(const std::string& choice, const Problem& problem, bool rescale,
                           const Console& console);

}  // namespace alidade::app
