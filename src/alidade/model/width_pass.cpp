#include "width_pass.hpp"

#include <algorithm>
#include <vector>

#include "lane_dispatch.hpp"
#include "lane_tiles.hpp"
#include "parallel.hpp"
#include "width_kernel.hpp"

namespace alidade::detail {

namespace {

using WidthsByLanes = ByLanes<WidthKernel, const WidthBlock&, double*>;

/// The fewest blocks that are worth a chunk: a block takes a microsecond or more.
constexpr Index blocks_of_widths = 32;

/// A chunk's work, with its scratch memory.
class WidthChunk {
public:
    WidthChunk(const FeatureMap& features, const LaneTiles& tiles, const WidthStep& step, LaneWidth width)
        : features_(features),
          tiles_(tiles),
          step_(step),
          alone_(step.alone()),
          kernel_(WidthsByLanes::of(width)) {
        const Index most = std::min(tiles.blocks().most_successors, step.most_successors);
        own_ = WidthRoom::size(most, step.inverse_factor->rows());
        memory_.resize(at(own_ + lanes) + tiles.scratch());
    }

    void run(Index block) {
        const Index first = block * lanes, count = std::min(lanes, features_.pairs() - first);
        double* const scratch = aligned_lanes(memory_);
        const Tile tile = tiles_.tile(block, scratch + own_);
        if (tile.successors > step_.most_successors) {
            for (Index l = 0; l < count; ++l) alone_(first + l);
            return;
        }
        double lower[lanes], upper[lanes], witness[lanes], strange[lanes];
        kernel_({tile.psi, tile.successors, step_.inverse_factor->rows(), step_.inverse_factor->data(), lower,
                 upper, witness, strange},
                scratch);
        for (Index l = 0; l < count; ++l) {
            const Index pair = first + l, entry = features_.first_entry(pair);
            if (strange[l] != 0 || features_.successors(pair) != tile.successors) {
                alone_(pair);
                continue;
            }
            step_.lower[at(pair)] = lower[l];
            step_.upper[at(pair)] = upper[l];
            const auto bits = static_cast<std::uint32_t>(witness[l]);
            for (Index j = 0; j < tile.successors; ++j)
                step_.witness[at(entry + j)] = static_cast<std::uint8_t>((bits >> j) & 1U);
        }
    }

private:
    const FeatureMap& features_;
    const LaneTiles& tiles_;
    const WidthStep& step_;
    std::function<void(Index)> alone_;
    WidthsByLanes::Function kernel_;
    Index own_;
    std::vector<double> memory_;
};

}  // namespace

void pass_over_widths(const FeatureMap& features, const WidthStep& step, Threads threads, LaneWidth width) {
    // Made as they are needed: they are read once.
    const LaneTiles tiles(features, *step.coordinates, TileParts::psi, KeptTiles::no);
    const Index blocks = std::ssize(tiles.blocks().start) - 1;
    in_chunks(blocks, blocks_of_widths, threads, [&](Index first, Index last) {
        WidthChunk chunk(features, tiles, step, width);
        for (Index b = first; b < last; ++b) chunk.run(b);
    });
}

}  // namespace alidade::detail
