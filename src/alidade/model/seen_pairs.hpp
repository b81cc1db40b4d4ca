#pragma once

#include <span>

#include "alidade/model/counts.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// visit(pair, here) for every pair of which something was seen, in their order: `here` is what was seen of
/// it.
template <class Visit>
void for_each_seen_pair(const SuccessorMap& map, std::span<const SeenEntry> seen, const Visit& visit) {
    while (!seen.empty()) {
        const Index pair = map.pair_of(seen.front().entry), end = map.first_entry(pair + 1);
        std::size_t here = 1;
        while (here < seen.size() && seen[here].entry < end) ++here;
        visit(pair, seen.first(here));
        seen = seen.subspan(here);
    }
}

}  // namespace alidade::detail
