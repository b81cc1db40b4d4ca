#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../model/lane_tiles.hpp"
#include "../model/lanes.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The inner loop of replanning: for every pair, ascent of the width from its present witness, and the
/// optimistic backup, in one pass over the features, all of which it reads, which must outlive it. Pairs lie
/// eight side by side in tiles, a lane a pair, and are taken as many at a time as a vector of the machine
/// has. A lane never sees another, and nothing is fused or reordered, so every width gives the same bits.
/// Where tiles are kept they have coordinates; a large model's are made from the features, and then sums of
/// features are taken into coordinates: the same numbers but for rounding.
class PlanningPass {
public:
    PlanningPass(const FeatureMap& features, const TangentFeatures& tangent, Index sets,
                 KeptTiles kept = KeptTiles::by_size);

    /// What the pass needs of one step.
    struct Step {
        Index set = 0;                           ///< whose witnesses
        const Matrix* inverse_factor = nullptr;  ///< of the metric: the inverse of its lower Cholesky factor
        const Vector* weights = nullptr;         ///< whose expectation is taken, in the features' coordinates
        double scale = 0;                        ///< of the width: radius times range
        std::span<const double> next;            ///< S numbers: the value at the next step
        int ascents = 0;                         ///< how often the witness may move before the width is taken
    };

    /// How the pass is done; what comes out does not depend on it, bit for bit.
    struct Options {
        Threads threads;
        LaneWidth width = widest_lanes();  ///< no wider than that; `one` is plain arithmetic
    };

    /// Pairs first .. last-1, `first` a multiple of eight: what one chunk of a sweep does.
    struct Chunk {
        Index first = 0, last = 0;
        LaneWidth width = widest_lanes();
    };

    /// values[pair] = scale * width + E[next(s')] under the set's weights. Moves the witnesses.
    void run(const Step& step, std::span<double> values, const Options& options);
    void run(const Step& step, std::span<double> values) { run(step, values, Options{}); }
    void run_part(const Step& step, std::span<double> values, const Chunk& chunk);

    /// The witness of one (set, successor number of a pair).
    bool witness(Index set, Index pair, Index successor) const noexcept {
        return (witness_[place(set, pair, successor)] & bit(pair)) != 0;
    }
    /// All witnesses, sets x entries, as in a width table.
    std::vector<std::uint8_t> witnesses() const;
    void take_witnesses(std::span<const std::uint8_t> witnesses);

private:
    /// What a way to pass over a block needs.
    struct Needs {
        TileParts parts;
        Index scratch;  // numbers of memory
    };
    template <class Pass>
    void for_each_block(const Step& step, std::span<double> values, const Chunk& chunk, const Needs& needs,
                        const Pass& pass);
    std::size_t place(Index set, Index pair, Index successor) const noexcept {
        return static_cast<std::size_t>(set * tiles_.blocks().slots() +
                                        tiles_.blocks().slot(pair, successor));
    }
    static unsigned bit(Index pair) noexcept { return 1U << (pair % lanes); }

    const FeatureMap& features_;
    const TangentFeatures& tangent_;
    Index sets_;
    LaneTiles tiles_;
    std::vector<std::uint8_t> witness_;  // [set][slot], a bit a lane
};

}  // namespace alidade::detail
