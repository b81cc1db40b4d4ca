#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alidade::detail {

/// Fewest insertions, deletions and replacements of one character that turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'states'?)" if one of `names` is close to `typed`, otherwise "".
std::string suggestion(std::string_view typed, const std::vector<std::string>& names);

}  // namespace alidade::detail
