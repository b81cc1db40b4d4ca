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

    /// Episodes to run now, given how many have been run: at least one; does not fall as they grow.
    std::int64_t batch(std::int64_t episodes) const;
    /// Batches that a run of so many episodes takes, the last cut short where they end within it.
    std::int64_t batches(std::int64_t episodes) const;
    /// Those of them that are whole.
    std::int64_t whole_batches(std::int64_t episodes) const;
    /// Whether so many episodes end within a batch, so that a run of so many cuts its last one short.
    bool lies_within_batch(std::int64_t episodes) const;
    /// Policies at most, the first included, of a run of so many episodes in which `cut` batches were cut
    /// short, at the end or wherever it was extended.
    std::int64_t most_policies(std::int64_t episodes, std::int64_t cut) const;
    bool operator==(const Schedule&) const = default;
};

/// "every", "doubling" or "growth=0.1". Throws InvalidArgument with what is allowed.
Schedule parse_schedule(std::string_view text);
std::string to_string(const Schedule& schedule);

}  // namespace alidade
