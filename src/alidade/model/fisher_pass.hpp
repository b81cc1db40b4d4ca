#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/planning_passes.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"

namespace alidade::detail {

using alidade::FisherBonus;

/// The inner loop of planning by Fisher information [likelihood §5]: for every pair, what one more visit
/// would tell, and the backup. Pairs are taken eight at a time, one SIMD lane a pair, in tiles. A lane never
/// sees another, and nothing is fused or reordered, so every instruction set gives the same bits.
class FisherPass final : public InformationPlanner {
public:
    FisherPass(const FeatureMap& features, const TangentFeatures& tangent,
               KeptTiles kept = KeptTiles::by_size, Threads threads = {});

    void run(const Step& step, std::span<double> bonus, std::span<double> values) const override;

    /// Pairs first .. last-1, `first` a multiple of eight: what one chunk of a sweep does.
    struct Chunk {
        Index first = 0, last = 0;
        LaneWidth width = widest_lanes();  ///< no wider than that; `one` is plain arithmetic
    };
    Chunk whole() const noexcept { return {0, pairs_}; }

    /// Room for the work on one chunk after another.
    std::vector<double> scratch() const;

    /// bonus[pair], for the pairs of the chunk, from the eigenvalues of J^-1 I, where
    /// I = sum_j psi_j psi_j' / P_j is the information of a visit.
    void bonuses(const Known& known, const Chunk& chunk, std::span<double> scratch,
                 std::span<double> bonus) const;

    /// values[pair] = scale * bonus[pair] + E[next(s')] under the weights, for the pairs of the chunk.
    void backup(const Vector& weights, double scale, std::span<const double> bonus,
                std::span<const double> next, const Chunk& chunk, std::span<double> scratch,
                std::span<double> values) const;

    /// Both in one pass over the features, with the same bits.
    void bonuses_and_backup(const Known& known, double scale, std::span<const double> next,
                            const Chunk& chunk, std::span<double> scratch, std::span<double> bonus,
                            std::span<double> values) const;

private:
    Index own_scratch() const noexcept;

    Index features_, dimension_, pairs_;
    Threads threads_;
    LaneTiles tiles_;
};

}  // namespace alidade::detail
