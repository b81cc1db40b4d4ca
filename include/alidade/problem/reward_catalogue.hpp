#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

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

/// Kinds of random rewards, for audits and benchmarks. Each (step, state, action) is drawn on its own.
enum class RandomRewardKind {
    binary,  ///< 0 or 1, equally likely
    dense,   ///< uniform on [0, 1)
    sparse,  ///< 1 with a small probability, otherwise 0
};

/// Share of ones in a sparse reward unless another is asked for.
inline constexpr double sparse_density = 0.05;

/// A random reward. `density` in [0, 1] matters for `sparse` only.
Reward random_reward(const Shape& shape, RandomRewardKind kind, Stream& random,
                     double density = sparse_density);

/// 1 for every action in one state, at all steps.
Reward single_state_reward(const Shape& shape, State state);
/// 1 for every action in one state at the last step: to be there when the episode ends.
Reward reach_reward(const Shape& shape, State state);

}  // namespace alidade
