#pragma once

#include <string>
#include <vector>

#include "alidade/problem/catalogue.hpp"

namespace alidade::detail {

/// An integer parameter within [minimum, maximum].
FamilyParameter integer_parameter(std::string name, Index default_value, Index minimum, Index maximum,
                                  std::string meaning);
/// A real parameter within [minimum, maximum]; the default is given as it is typed.
FamilyParameter real_parameter(std::string name, std::string default_value, double minimum, double maximum,
                               std::string meaning);
/// An integer parameter whose default the family computes; `formula` says how.
FamilyParameter derived_parameter(std::string name, std::string formula, Index minimum, Index maximum,
                                  std::string meaning);
/// Which variant of the family; the first choice is the default.
FamilyParameter variant_parameter(std::vector<std::string> choices, std::string meaning);
/// The seed of kernels and weights, which every family takes.
FamilyParameter seed_parameter();
/// The horizon H.
FamilyParameter horizon_parameter(Index default_value);
/// The same parameter, for these variants only.
FamilyParameter only(std::vector<std::string> variants, FamilyParameter parameter);

/// Largest sizes a built-in problem can be asked for; KernelSet bounds their product.
inline constexpr Index max_states = 1'000'000;
inline constexpr Index max_actions = 1'000;
inline constexpr Index max_features = 1'000;
inline constexpr Index max_horizon = 10'000;

}  // namespace alidade::detail
