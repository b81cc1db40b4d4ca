#include "reward_choice.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "user_error.hpp"

namespace alidade::app {
namespace {

std::string names_of(const Problem& problem) {
    std::string names;
    for (const NamedReward& reward : problem.rewards()) names += (names.empty() ? "" : ", ") + reward.name;
    return names.empty() ? "none" : names;
}

bool looks_like_file(const std::string& choice) {
    const std::string extension = std::filesystem::path(choice).extension().string();
    return extension == ".json" || extension == ".npz" || std::filesystem::exists(choice);
}

}  // namespace

ScaledReward choose_reward(const std::string& choice, const Problem& problem, bool rescale,
                           const Voice& voice) {
    for (const NamedReward& named : problem.rewards())
        if (named.name == choice) return {named.reward, {}};
    if (!looks_like_file(choice))
        throw UserError(fmt::format("there is no reward '{}'", choice),
                        {"--reward", "a plan needs to know what is worth having",
                         fmt::format("name a .json or .npz file, or one of the problem's own rewards: {}",
                                     names_of(problem))});
    ScaledReward reward = explaining(
        {fmt::format("reward file '{}'", choice),
         "values and losses are bounded for rewards in [0, 1] over the problem's states and actions",
         "correct the file; --rescale maps values outside [0, 1] onto it and scales the bounds back"},
        [&] { return read_reward(choice, problem.shape(), {.rescale = rescale}); });
    if (reward.scale != RewardScale{})
        voice.say(
            fmt::format("Rescaled: a reward of 0 stands for {} and one of 1 for {}; values and losses "
                        "below are in the file's unit.",
                        reward.scale.offset, reward.scale.offset + reward.scale.scale));
    return reward;
}

}  // namespace alidade::app
