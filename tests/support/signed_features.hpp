#pragma once

#include <cmath>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "support/random_models.hpp"

namespace alidade::support {

/// Features (q, xi) of d numbers: q is a law over the successors and each xi sums to zero over them, so that
/// theta = (1, x) gives q + x . xi, which is a transition law near x = 0 and none far from it.
inline FeatureMap random_signed_features(Stream& random, const Shape& shape, Index d, Index successors,
                                         double norm_bound) {
    SignedFeatures data{shape.states, shape.actions, d, {0}, {}, {}, norm_bound};
    for (Index pair = 0; pair < shape.pairs(); ++pair) {
        const auto targets = random_states(random, shape.states, successors);
        const auto law = sample_dirichlet(random, successors, 2.0);
        Matrix signs(successors, d - 1);
        for (Index j = 0; j < successors; ++j)
            for (Index i = 0; i + 1 < d; ++i) signs(j, i) = sample_normal(random);
        signs.rowwise() -= signs.colwise().mean().eval();
        for (Index j = 0; j < successors; ++j) {
            data.targets.push_back(targets[static_cast<std::size_t>(j)]);
            data.values.push_back(law[static_cast<std::size_t>(j)]);
            for (Index i = 0; i + 1 < d; ++i) data.values.push_back(signs(j, i));
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return FeatureMap::from_features(data);
}

}  // namespace alidade::support
