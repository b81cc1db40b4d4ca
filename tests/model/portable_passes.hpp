#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/lane_tiles.hpp"
#include "alidade/model/planning_passes.hpp"
#include "alidade/model/tangent_space.hpp"

// The passes of explorers as a compiler without vectors makes them, beside those of the library.

namespace alidade::portable {

/// detail::PlanningPass::run of one set, from the witnesses given; they are moved.
std::vector<double> planning_pass(const FeatureMap& features, const TangentFeatures& tangent,
                                  const WidthPlanner::Step& step, detail::KeptTiles kept,
                                  std::vector<std::uint8_t>& witness);

/// detail::FisherPass::bonuses, and its backup of `next` by them.
struct FisherNumbers {
    std::vector<double> bonus, values;
    bool operator==(const FisherNumbers&) const = default;
};
FisherNumbers fisher_pass(const FeatureMap& features, const TangentFeatures& tangent, const Vector& weights,
                          const Matrix& factor, FisherBonus bonus, double allowance, double scale,
                          std::span<const double> next);

/// Whether they were made without vectors.
bool without_vectors();

}  // namespace alidade::portable
