#pragma once

#include <map>
#include <string>
#include <vector>

#include "alidade/error.hpp"

namespace alidade::detail {

/// A field of a stored snapshot. Throws InvalidArgument if it is missing or has another size.
template <class T>
const std::vector<T>& field(const std::map<std::string, std::vector<T>>& fields, const std::string& name,
                            std::size_t size) {
    const auto place = fields.find(name);
    expects(place != fields.end(), "the stored exploration has no '{}'", name);
    expects(place->second.size() == size, "the stored '{}' has {} values; must have {}", name,
            place->second.size(), size);
    return place->second;
}

}  // namespace alidade::detail
