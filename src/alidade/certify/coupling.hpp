#pragma once

#include <span>
#include <utility>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::detail {

/// Probabilities with mass `removed` taken from the successors of smallest `value`, in place.
/// `order` is scratch. Expectation of `value` under what is left.
double remove_mass(std::span<double> probabilities, std::span<const double> value, double removed,
                   std::vector<std::pair<double, std::size_t>>& order);

}  // namespace alidade::detail
