#pragma once

#include <span>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/confidence/width_table.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"

namespace alidade::detail {

/// Raises every pair's width by ascent from its present witness, in the metrics of `sets`: a few
/// nanoseconds a successor, for replanning after every episode. Updates `lower` and `witness` only.
void warm_ascent(const FeatureMap& features, const TangentFeatures& tangent,
                 std::span<const ConfidenceSet> sets, WidthTable& table);

/// E[next(s')] of a pair under the weights; `scratch` holds d numbers.
inline double expectation(const FeatureMap& features, Index pair, const double* weights, const double* next,
                          double* scratch) {
    const Index d = features.features();
    const std::int32_t* target = features.targets().data();
    for (Index i = 0; i < d; ++i) scratch[i] = 0;
    for (Index e = features.first_entry(pair), end = features.first_entry(pair + 1); e < end; ++e) {
        const double value = next[target[e]];
        const double* phi = features.values().data() + e * d;
        for (Index i = 0; i < d; ++i) scratch[i] += value * phi[i];
    }
    double sum = 0;
    for (Index i = 0; i < d; ++i) sum += weights[i] * scratch[i];
    return sum;
}

}  // namespace alidade::detail
