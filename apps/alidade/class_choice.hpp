#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "alidade/certify/reward_class.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::app {

/// What --class says: total, total=HALF, steps=2..4,6, states=NAME,3, several with + between; or
/// near=REWARD:ETA.
struct ClassChoice {
    /// Of `near`, which is about a reward and a policy.
    struct Near {
        std::string reward;  ///< a name or file, as --reward takes it
        double eta = 0;      ///< in the unit of the reward
    };
    std::optional<Near> near;
    std::optional<RewardClass> rewards;  ///< of all others
    std::string words;                   ///< "every reward in [0, 1] at once that ..."
};

/// Throws UserError that says what is allowed.
ClassChoice choose_class(const std::string& choice, const Problem& problem);

/// What is allowed, for the help.
std::string class_help();

}  // namespace alidade::app
