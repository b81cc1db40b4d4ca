#pragma once

#include <string>

#include "alidade/io/reward_file.hpp"
#include "alidade/problem/problem.hpp"
#include "voice.hpp"

namespace alidade::app {

/// The reward that --reward names: a file (.json or .npz), or one of the problem's own rewards. Says what a
/// rescaling did. Throws UserError.
ScaledReward choose_reward(const std::string& choice, const Problem& problem, bool rescale,
                           const Voice& voice);

}  // namespace alidade::app
