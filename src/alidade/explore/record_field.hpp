#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "alidade/confidence/width_table.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"

namespace alidade::detail {

/// A field of a stored record. Throws InvalidArgument if it is missing or has another size.
template <class T>
const std::vector<T>& field(const std::map<std::string, std::vector<T>>& fields, const std::string& name,
                            std::size_t size) {
    const auto place = fields.find(name);
    expects(place != fields.end(), "the stored exploration has no '{}'", name);
    expects(place->second.size() == size, "the stored '{}' has {} values; must have {}", name,
            place->second.size(), size);
    return place->second;
}

/// What is handed over deserves tighter widths than what steers exploration: some two hundred thousand nodes
/// of branch and bound in all, shared evenly, so that the result depends on the problem's sizes alone.
inline WidthOptions thorough(const WidthTable& widths) {
    const Index problems = std::max<Index>(1, widths.sets * widths.pairs);
    return {.nodes = std::clamp<Index>(200'000 / problems, 1, 2'000)};
}

}  // namespace alidade::detail
