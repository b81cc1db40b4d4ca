#pragma once

#include <string>
#include <vector>

namespace alidade::detail {

/// For each name one that PRISM's language allows for actions, labels and rewards: a letter or `_` first,
/// then letters, digits and `_`, no keyword, all different. Names that are so already stay as they are.
std::vector<std::string> identifier_names(const std::vector<std::string>& names);

}  // namespace alidade::detail
