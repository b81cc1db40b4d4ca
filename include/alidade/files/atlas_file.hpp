#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/certify/weighting.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/model/reward.hpp"

namespace alidade {

/// What is wanted of an objective.
enum class Sense { maximise, minimise };

/// One objective of an atlas, as it was given and as the atlas takes it.
struct AtlasObjective {
    std::string name;
    Sense sense = Sense::maximise;
    RewardScale scale;  ///< of the reward as it was given: value = offset + scale * reward
    Reward reward;      ///< what the atlas maximises: the reward given, or its complement

    /// True values of the objective, in the unit it was given in, of an interval of values in rewards.
    Interval in_unit(const Interval& values) const;
    /// The other way: the value in rewards that a value in the objective's unit stands for.
    double in_rewards(double value) const;
};

/// What the atlas maximises of each.
Objectives rewards_of(const std::vector<AtlasObjective>& objectives);

/// An atlas with what it is of.
struct AtlasRecord {
    Atlas atlas;
    std::vector<AtlasObjective> objectives;
    std::string problem;  ///< problem_hash() of the problem

    /// Weights of sums in the objectives' own units, as weights of rewards: w_i = u_i s_i. A loss under these
    /// is in the unit of the sum.
    std::vector<double> weights_of(std::span<const double> in_units) const;
};

/// Writes FOLDER/atlas.json, policies/000.json ..., objectives/000.npz ..., cells.csv, front.csv and
/// `further` files, by their names. The folder appears under its name when it is complete; an atlas that is
/// there already is replaced. Throws InvalidArgument if the folder holds something else, or cannot be
/// written.
void write_atlas(const std::filesystem::path& folder, const AtlasRecord& record,
                 const std::map<std::string, std::string>& further = {});

/// The text of its atlas.json.
std::string atlas_text(const AtlasRecord& record);

/// Whether the folder holds an atlas, sound or not.
bool holds_atlas(const std::filesystem::path& folder);

/// Reads what write_atlas wrote. Its cells cover the weights (check_cover); whether its bounds follow from a
/// run is what recheck tells. Throws InvalidArgument naming file, place and value.
AtlasRecord read_atlas(const std::filesystem::path& folder);

/// The atlas of the text of an atlas.json, without policies and objectives' rewards; `file` is what messages
/// call it.
Atlas parse_atlas(std::string_view text, const std::string& file);

}  // namespace alidade
