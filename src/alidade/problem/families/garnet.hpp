#pragma once

#include <functional>
#include <string>
#include <vector>

#include "alidade/problem/catalogue.hpp"

namespace alidade::detail {

/// The parameters of a garnet with these default sizes; needle has them too.
std::vector<FamilyParameter> garnet_parameters(Index states, Index actions, Index features, Index horizon,
                                               Index successors);

/// Which pairs the base models differ on, one flag a pair.
using InformativePairs = std::function<std::vector<bool>(Index pairs)>;

/// A garnet whose base models differ only on the informative pairs: elsewhere all base rows equal the
/// first. `default_successors` is cut to the number of states.
Problem make_garnet(const std::string& name, const FamilyArguments& arguments,
                    const InformativePairs& informative_pairs, Index default_successors);

}  // namespace alidade::detail
