#pragma once

#include <cstdint>
#include <map>

#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

/// What the features of two pairs differ by.
namespace alidade::support {

using Long = long double;

/// phi at one pair less phi at another, of every state that either leads to.
inline std::map<std::int32_t, Vector> difference_of(const FeatureMap& features, Index one, Index other) {
    std::map<std::int32_t, Vector> difference;
    for (const Index pair : {one, other})
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const Eigen::Map<const Vector> phi(features.phi(e).data(), features.features());
            auto& sum =
                difference.try_emplace(features.targets()[at(e)], Vector::Zero(phi.size())).first->second;
            sum += pair == one ? Vector(phi) : Vector(-phi);
        }
    return difference;
}

/// In long numbers.
inline Long product(const Vector& x, const Vector& y) {
    Long sum = 0;
    for (Index i = 0; i < x.size(); ++i) sum += static_cast<Long>(x[i]) * static_cast<Long>(y[i]);
    return sum;
}

}  // namespace alidade::support
