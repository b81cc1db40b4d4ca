#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

/// Width brackets of every pair in the metric of every confidence set: how far a value in [0,1] can
/// move, per unit of radius. Sets are those of the learned steps, or one if homogeneous.
struct WidthTable {
    Index sets = 0;
    Index pairs = 0;
    Index entries = 0;
    std::vector<double> lower;          ///< sets x pairs
    std::vector<double> upper;          ///< sets x pairs
    std::vector<std::uint8_t> witness;  ///< sets x entries: the V in {0,1} that attains `lower`

    WidthTable(Index sets, const FeatureMap& features);

    std::span<const double> upper_of(Index set) const noexcept;
    std::span<const double> lower_of(Index set) const noexcept;
    std::span<const std::uint8_t> witness_of(Index set) const noexcept;
};

/// Fills the table; its witness on entry is a warm start. Every pair is computed on its own, so the
/// result does not depend on `threads` (>= 1).
void bracket_widths(const FeatureMap& features, const TangentFeatures& tangent,
                    std::span<const ConfidenceSet> sets, const WidthOptions& options, Threads threads,
                    WidthTable& table);
/// The same for metrics given by inverses of their lower Cholesky factors, in the coordinates of `features`,
/// which need not be those of the hull.
void bracket_widths(const FeatureMap& features, const TangentFeatures& tangent,
                    std::span<const Matrix> inverse_factors, const WidthOptions& options, Threads threads,
                    WidthTable& table);

/// Widths of all pairs in the metric of one set.
struct SetWidths {
    Index set = 0;
    std::span<const double> lower, upper;   ///< one a pair
    std::span<const std::uint8_t> witness;  ///< one an entry
};

/// Who is asked and told about widths, one set after another.
struct WidthVisitor {
    /// Asked for a warm start of the witnesses, which are zeros where nobody is asked.
    std::function<void(Index set, std::span<std::uint8_t> witness)> start;
    std::function<void(const SetWidths&)> found;
};

/// The widths of all sets as `bracket_widths` has them, of which one set's are held at a time: a table of a
/// large model takes a quarter of what its features do [docs/large-models.md].
void visit_widths(const FeatureMap& features, const TangentFeatures& tangent,
                  std::span<const Matrix> inverse_factors, const WidthOptions& options, Threads threads,
                  const WidthVisitor& visitor);

/// The upper ends alone, sets x pairs.
std::vector<double> upper_widths(const FeatureMap& features, const TangentFeatures& tangent,
                                 std::span<const Matrix> inverse_factors, const WidthOptions& options,
                                 Threads threads);

}  // namespace alidade
