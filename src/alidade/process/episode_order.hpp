#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "alidade/environment/system.hpp"

namespace alidade::detail {

/// Episodes that one worker is to run.
struct Assignment {
    std::int64_t first = 0;
    std::int64_t count = 1;  ///< more than one: as a batch
    bool stepwise = false;   ///< never as a batch
    int failures = 0;        ///< attempts that broke off
    SystemEpisode seen;      ///< the longest of them; of a seeded system, the next begins the same
    bool finished = false;   ///< `seen` is the whole episode: the next attempt is to be the same
};

/// The episodes of one call: which are to be given out, which are done, and what is next to be handed over,
/// in the order of their numbers whoever was faster.
class EpisodeOrder {
public:
    EpisodeOrder(std::int64_t first, std::int64_t count)
        : end_(first + count), fresh_(first), released_(first) {}

    /// Episodes that could be given out now.
    std::int64_t open() const;
    /// The next, at most `most` at a time; nothing if none is open.
    std::optional<Assignment> next(std::int64_t most);
    /// To be given out once more, before all others.
    void again(Assignment assignment) { again_.push_back(std::move(assignment)); }
    void done(SystemEpisode episode);
    /// Whether all are done.
    bool complete() const { return released_ == end_; }

    /// Done, in order, and not handed over yet; what is done after a gap is not among them.
    std::vector<SystemEpisode>& ready() { return ready_; }
    /// What is done after a gap, with numbers as if there were none: for systems whose numbers mean nothing.
    std::vector<SystemEpisode> close_gaps(std::vector<SystemEpisode> more);

private:
    std::int64_t end_, fresh_, released_;
    std::deque<Assignment> again_;
    std::map<std::int64_t, SystemEpisode> done_;  // after a gap
    std::vector<SystemEpisode> ready_;
};

}  // namespace alidade::detail
