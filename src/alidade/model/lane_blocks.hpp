#pragma once

#include <algorithm>
#include <vector>

#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// Where pairs lie when eight of them are taken side by side: a block has a slot for each successor of the
/// pair that has most, and a slot has a lane for each pair.
struct LaneBlocks {
    std::vector<Index> start;   ///< slot at which a block begins, and that after the last
    Index most_successors = 0;  ///< of a block

    explicit LaneBlocks(const SuccessorMap& map) {
        Index slots = 0;
        for (Index pair = 0; pair < map.pairs(); pair += lanes) {
            start.push_back(slots);
            Index most = 0;
            for (Index other = pair; other < std::min(map.pairs(), pair + lanes); ++other)
                most = std::max(most, map.successors(other));
            slots += most;
            most_successors = std::max(most_successors, most);
        }
        start.push_back(slots);
    }

    Index slots() const noexcept { return start.back(); }
    /// Of the pair of a block that has most.
    Index successors(Index block) const noexcept {
        return start[static_cast<std::size_t>(block + 1)] - start[static_cast<std::size_t>(block)];
    }
    /// The slot of a pair's successor; its lane is pair % lanes.
    Index slot(Index pair, Index successor) const noexcept {
        return start[static_cast<std::size_t>(pair / lanes)] + successor;
    }
};

}  // namespace alidade::detail
