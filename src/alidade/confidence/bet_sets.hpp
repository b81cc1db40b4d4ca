#pragma once

#include <span>
#include <string>
#include <vector>

#include "alidade/confidence/bets.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The weights that bets leave possible where every law may be `zeta` off its mixture, one set for each table:
/// with probability 1 - delta all contain their true weights, at all times, and for every zeta that is true
/// [misspecification, Theorems 1 and 13]. `about`: weights of the simplex near which each set is looked for,
/// such as a fit. `models`: weights that are handed over as the model, members or not; none: the centres of
/// the least ellipsoids about the sets. Throws ModelContradiction if a set is proven to be empty: then zeta is
/// too small, or the event has failed.
std::vector<ConfidenceSet> bet_sets(std::span<const BetTable> tables, double zeta, double delta,
                                    std::span<const Vector> about, std::span<const Vector> models = {});

/// An ellipsoid that contains the vertices, about their least one's centre or about `model`, and the vertices
/// within it.
ConfidenceSet enclosing(VertexSet vertices, const Vector* model = nullptr);

}  // namespace alidade::detail
