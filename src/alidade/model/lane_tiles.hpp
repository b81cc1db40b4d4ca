#pragma once

#include <span>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/types.hpp"
#include "lane_blocks.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// The features of eight pairs side by side, a lane a pair: numbers of a lane are `lanes` apart. Zero where a
/// pair has no such successor.
struct Tile {
    const double* phi = nullptr;     ///< [successor][feature][lane]; none unless asked for
    const double* psi = nullptr;     ///< [successor][coordinate][lane]; none unless asked for
    const double* centre = nullptr;  ///< [successor][lane], with psi
    Index successors = 0;            ///< of the pair that has most
};

/// What the tiles of a pass have.
enum class TileParts { phi, psi, both };

/// Whether tiles lie ready in memory, or are made from the features when they are asked for. The numbers are
/// the same. A tile is made within a tenth of a microsecond a pair; kept ones take as much memory as the
/// features, or twice as much [docs/large-models.md].
enum class KeptTiles {
    by_size,  ///< up to 64 MiB of them
    yes,
    no,
};

/// The features of a map in tiles. Reads them, so that they must outlive it.
class LaneTiles {
public:
    LaneTiles(const FeatureMap& features, const TangentFeatures& tangent, TileParts parts,
              KeptTiles kept = KeptTiles::by_size)
        : LaneTiles(features, &tangent, parts, kept) {}
    /// Of the features alone.
    explicit LaneTiles(const FeatureMap& features, KeptTiles kept = KeptTiles::by_size)
        : LaneTiles(features, nullptr, TileParts::phi, kept) {}

    const LaneBlocks& blocks() const noexcept { return blocks_; }
    Index pairs() const noexcept { return features_.pairs(); }
    const SuccessorMap& successors() const noexcept { return features_; }
    bool kept() const noexcept { return kept_; }
    /// So many numbers of scratch memory, and none where tiles are kept.
    std::size_t scratch() const noexcept;
    /// The block's tile, in `scratch` if tiles are not kept, which must be aligned as `aligned_lanes` does
    /// it.
    Tile tile(Index block, double* scratch) const { return tile(block, scratch, parts_); }
    /// The same for those who need no more than `parts` of it.
    Tile tile(Index block, double* scratch, TileParts parts) const {
        return kept_ ? stored(block) : made(block, scratch, parts);
    }

private:
    LaneTiles(const FeatureMap& features, const TangentFeatures* tangent, TileParts parts, KeptTiles kept);
    Index dimension() const noexcept { return tangent_ == nullptr ? 0 : tangent_->space.dimension(); }
    Tile stored(Index block) const noexcept;
    Tile made(Index block, double* scratch, TileParts parts) const;
    void gather(Index block, Index successors, double* phi) const noexcept;

    const FeatureMap& features_;
    const TangentFeatures* tangent_;  // none of tiles of features alone
    TileParts parts_;
    LaneBlocks blocks_;
    bool kept_;
    // Of tiles that are kept:
    std::vector<double> phi_, psi_, centre_;
};

}  // namespace alidade::detail
