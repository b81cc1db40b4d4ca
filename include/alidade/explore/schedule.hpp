#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "alidade/types.hpp"

namespace alidade {

/// When an explorer computes a new policy. Between replans the episodes are independent, so they are
/// run as one batch.
struct Schedule {
    enum class Kind {
        every,     ///< after each episode, as the paper does
        doubling,  ///< when the product of the steps' determinants has doubled [theory §3e]
        growth,    ///< when the episodes have grown by a fixed ratio
    };
    Kind kind = Kind::growth;
    double growth = 0.1;      ///< of `growth`: more episodes before the next replan, in (0, 10]
    double sub_batch = 0.02;  ///< of `doubling`: determinants are tested after so many more episodes

    /// Episodes to run now, given how many have been run: at least one.
    std::int64_t batch(std::int64_t episodes) const;
    /// Batches that a run of so many episodes takes, without interruptions.
    std::int64_t batches(std::int64_t episodes) const;
    bool operator==(const Schedule&) const = default;
};

/// "every", "doubling" or "growth=0.1". Throws InvalidArgument with what is allowed.
Schedule parse_schedule(std::string_view text);
std::string to_string(const Schedule& schedule);

}  // namespace alidade
