#pragma once

#include <cstdint>

#include "alidade/certify/atlas.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/weighting.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct AtlasAuditOptions {
    Index weights = 1000;  ///< random ones in the region, >= 0, besides all corners of all cells
    std::uint64_t seed = 0;
};

/// What comparing an atlas with the truth found.
struct AtlasAudit {
    Index checks = 0;       ///< (weights, policy) whose true loss was compared with its bound
    Index violations = 0;   ///< above it by more than 1e-9; zero unless the confidence event failed
    double worst_loss = 0;  ///< the largest true loss
    bool truth_in_confidence_set = false;
};

/// Exact true losses at every corner of every cell and at random weights. Throws InvalidArgument if the truth
/// is not known.
AtlasAudit audit(const Atlas& atlas, const Knowledge& knowledge, const Objectives& objectives,
                 const Problem& problem, const AtlasAuditOptions& options = {});

}  // namespace alidade
