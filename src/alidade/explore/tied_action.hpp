#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Where a draw among tied actions gets its words from.
struct TieAddress {
    std::uint64_t seed = 0;
    std::int64_t replans = 0;  ///< policies computed so far
    Index place = 0;           ///< step and state
};

/// The action with the largest value; exact ties are drawn.
inline Action tied_action(std::span<const double> values, const TieAddress& address) {
    const double best = *std::ranges::max_element(values);
    const auto ties = std::ranges::count(values, best);
    auto chosen = std::ranges::find(values, best);
    if (ties > 1) {
        Stream random(address.seed, Purpose::ties, static_cast<std::uint64_t>(address.replans),
                      static_cast<std::uint64_t>(address.place));
        for (Index skip = sample_index(random, ties); skip > 0; --skip)
            chosen = std::find(chosen + 1, values.end(), best);
    }
    return chosen - values.begin();
}

}  // namespace alidade::detail
