#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "alidade/explore/snapshot.hpp"
#include "alidade/model/feature_map.hpp"

namespace alidade::detail {

/// Witnesses of one set: a number 0 or 1 an entry.
using GiveWitnesses = std::function<void(Index set, std::span<std::uint8_t> to)>;
using TakeWitnesses = std::function<void(Index set, std::span<const std::uint8_t> from)>;

/// The witnesses of all sets as a field of a snapshot: a byte each, or, of a model whose features are too
/// many to be stored, a bit each [docs/large-models.md].
void write_witnesses(const FeatureMap& features, Index sets, const GiveWitnesses& give, Snapshot& record);
/// And back, of either kind. Throws InvalidArgument if they do not fit.
void read_witnesses(const FeatureMap& features, Index sets, const Snapshot& record,
                    const TakeWitnesses& take);

}  // namespace alidade::detail
