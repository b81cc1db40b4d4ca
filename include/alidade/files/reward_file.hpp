#pragma once

#include <filesystem>
#include <string_view>

#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"

namespace alidade {

/// How to read a reward file.
struct RewardOptions {
    bool rescale = false;  ///< map values outside [0, 1] affinely onto [0, 1] instead of refusing them
};

/// What rescaling did: value in the file = offset + scale * reward. A loss of x in rewards is a loss of
/// scale * x in the file's unit, and a value v over H steps is H * offset + scale * v.
struct RewardScale {
    double scale = 1;   ///< > 0
    double offset = 0;  ///< what a reward of 0 stands for

    bool operator==(const RewardScale&) const = default;
};

/// A reward and the unit it was given in.
struct ScaledReward {
    Reward reward;
    RewardScale scale;  ///< the identity unless rescaling was asked for and needed
};

/// Reads a reward. `.json`: {"default": 0, "entries": [{"state": 3, "action": 1, "step": 2, "reward": 1.0},
/// ...]}, where `default` (0 if left out) is the reward of what no entry names, an entry without `action`
/// or `step` stands for all of them, and where entries overlap the later one wins (what it replaces need
/// not be in range); without any `step` the reward is stationary. `.npz`: one array, or the one called
/// `reward`, of shape (S, A) or (H, S, A).
/// Steps, states and actions count from 0. Throws InvalidArgument naming file, entry, value and range;
/// values outside [0, 1] are refused unless `options.rescale`.
ScaledReward read_reward(const std::filesystem::path& path, const Shape& shape,
                         const RewardOptions& options = {});
/// The same from memory; `path` is what messages call it, and its extension says what the bytes are.
ScaledReward parse_reward(std::string_view bytes, const std::filesystem::path& path, const Shape& shape,
                          const RewardOptions& options = {});

/// Writes a reward as .json or .npz, by the path's extension; reading it gives an equal reward.
void write_reward(const std::filesystem::path& path, const Reward& reward);

}  // namespace alidade
