#include "reward_choice.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "alidade/problem/reward_catalogue.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

std::string names_of(const Problem& problem) {
    std::string names;
    for (const NamedReward& reward : problem.rewards()) names += reward.name + ", ";
    for (const RewardKind& kind : reward_kinds())
        names += kind.name + (&kind == &reward_kinds().back() ? "" : ", ");
    return names;
}

bool rescaling_helps(const std::string& file, const Shape& shape) {
    try {
        read_reward(file, shape, {.rescale = true});
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

/// Reads a reward's file; the advice is --rescale only where that helps.
ScaledReward read_chosen(const std::string& file, const Shape& shape, bool rescale) {
    Context context{
        fmt::format("reward file '{}'", file),
        "values and losses are bounded for rewards in [0, 1] over the problem's states and actions",
        "correct the file; docs/formats.md says what it holds"};
    return explaining_file(file, context, [&] {
        try {
            return read_reward(file, shape, {.rescale = rescale});
        } catch (const InvalidArgument& error) {
            if (rescale || !rescaling_helps(file, shape)) throw;
            context.fix =
                "correct the file, or add --rescale, which maps its values onto [0, 1] and scales the bounds "
                "back";
            throw UserError(error.what(), context);
        }
    });
}

bool looks_like_file(const std::string& choice) {
    const std::string extension = std::filesystem::path(choice).extension().string();
    return extension == ".json" || extension == ".npz" || std::filesystem::exists(choice);
}

}  // namespace

Reward make_named_reward(const std::string& name, const Problem& problem) {
    return explaining({fmt::format("reward '{}'", name),
                       "a reward or parameter that is guessed would be another one than the one meant",
                       fmt::format("NAME or NAME?parameter=value&..., with a name of {}", names_of(problem))},
                      [&] { return make_reward(problem, name); });
}

ScaledReward choose_reward(const std::string& choice, const Problem& problem, bool rescale,
                           const Console& console) {
    if (names_reward(problem, choice)) return {make_named_reward(choice, problem), {}};
    if (!looks_like_file(choice))
        throw UserError(fmt::format("there is no reward '{}'", choice),
                        {"--reward", "a plan needs to know what is worth having",
                         fmt::format("name a .json or .npz file, or one of the rewards that have a name: {}",
                                     names_of(problem))});
    ScaledReward reward = read_chosen(choice, problem.shape(), rescale);
    if (reward.scale != RewardScale{})
        console.say(
            fmt::format("Rescaled: a reward of 0 stands for {} and one of 1 for {}; values and losses "
                        "below are in the file's unit.",
                        reward.scale.offset, reward.scale.offset + reward.scale.scale));
    return reward;
}

}  // namespace alidade::app
