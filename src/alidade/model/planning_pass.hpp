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

/// The inner loop of replanning: for every pair, ascent of the width from its present witness, and the
/// optimistic backup, in one pass over the features, all of which it reads, which must outlive it. Pairs lie
/// eight side by side in tiles, a lane a pair, and are taken as many at a time as a vector of the machine
/// has. A lane never sees another, and nothing is fused or reordered, so every width gives the same bits.
/// Where tiles are kept they have coordinates; a large model's are made from the features, and then sums of
/// features are taken into coordinates: the same numbers but for rounding.
class PlanningPass final : public WidthPlanner {
public:
    PlanningPass(const FeatureMap& features, const TangentFeatures& tangent, Index sets,
                 KeptTiles kept = KeptTiles::by_size, Threads threads = {});

    /// How the pass is done; what comes out does not depend on it, bit for bit.
    struct Options {
        Threads threads;
        LaneWidth width = widest_lanes();  ///< no wider than that; `one` is plain arithmetic
    };

    /// values[pair] = scale * width + E[next(s')] under the set's weights. Moves the witnesses.
    void run(const Step& step, std::span<double> values, const Options& options);
    void run(const Step& step, std::span<double> values) override {
        run(step, values, Options{.threads = threads_});
    }

    bool witness(Index set, Index pair, Index successor) const noexcept override {
        return (witness_[place(set, pair, successor)] & bit(pair)) != 0;
    }
    void witnesses(Index set, std::span<std::uint8_t> to) const override;
    void take_witnesses(Index set, std::span<const std::uint8_t> from) override;
    std::span<const std::uint8_t> witness_bits() const override { return witness_; }
    void take_witness_bits(std::span<const std::uint8_t> bits) override;

private:
    /// Pairs first .. last-1, `first` a multiple of eight.
    struct Chunk {
        Index first = 0, last = 0;
        LaneWidth width = widest_lanes();
    };
    void run_part(const Step& step, std::span<double> values, const Chunk& chunk);
    /// From coordinates in tiles that are kept, and from rows of features.
    void run_tiles(const Step& step, std::span<double> values, const Chunk& chunk);
    void run_rows(const Step& step, std::span<double> values, const Chunk& chunk);
    /// `pass` over each block, with `numbers` of scratch memory.
    template <class Pass>
    void for_each_block(const Step& step, std::span<double> values, const Chunk& chunk, Index numbers,
                        const Pass& pass);
    std::size_t place(Index set, Index pair, Index successor) const noexcept {
        return static_cast<std::size_t>(set * tiles_.blocks().slots() +
                                        tiles_.blocks().slot(pair, successor));
    }
    static unsigned bit(Index pair) noexcept { return 1U << (pair % lanes); }

    const FeatureMap& features_;
    const TangentFeatures& tangent_;
    Index sets_;
    Threads threads_;
    LaneTiles tiles_;
    std::vector<std::uint8_t> witness_;  // [set][slot], a bit a lane
};

}  // namespace alidade::detail
