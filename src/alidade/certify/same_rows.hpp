#pragma once

#include <algorithm>

#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Whether two pairs have the same features: then the same law, whatever the weights.
inline bool same_rows(const FeatureMap& features, Index one, Index other) {
    const Index d = features.features();
    const auto first = features.values().begin() + features.first_entry(one) * d;
    const auto second = features.values().begin() + features.first_entry(other) * d;
    return std::ranges::equal(features.targets(one), features.targets(other)) &&
           std::equal(first, first + features.successors(one) * d, second);
}

}  // namespace alidade::detail
