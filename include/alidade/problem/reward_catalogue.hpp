#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/reward.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade {

/// A kind of reward that every problem has, for benchmarks and first tries.
struct RewardKind {
    std::string name;     ///< as typed: "sparse"
    std::string meaning;  ///< one sentence
    std::vector<FamilyParameter> parameters;
    std::function<Reward(const Shape&, const FamilyArguments&)> make;
};

/// All kinds, in the order in which they are shown.
const std::vector<RewardKind>& reward_kinds();

/// Whether the address means a natural reward of the problem or, up to a question mark, a kind.
bool names_reward(const Problem& problem, std::string_view address);

/// The reward of "NAME", a natural reward of the problem, or of "KIND?parameter=value&...", where a natural
/// reward hides a kind of the same name. The same address and shape give the same reward everywhere. Throws
/// InvalidArgument if there is none (the message lists those that exist), or a parameter is wrong.
Reward make_reward(const Problem& problem, std::string_view address);

}  // namespace alidade
