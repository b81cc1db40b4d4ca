#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// Where each state-action pair can lead: its possible successors, ascending. An entry is a (pair, successor)
/// position; probabilities, counts and features are arrays over entries. Immutable.
class SuccessorMap {
public:
    /// `offsets` has S*A+1 positions into `targets`, from 0 to its size; `targets` are states, ascending and
    /// distinct within a pair, at least one of them. Throws InvalidArgument naming the state and action that
    /// are not so.
    SuccessorMap(Index states, Index actions, std::vector<std::int64_t> offsets,
                 std::vector<std::int32_t> targets);
    /// The same where they lie, in a mapped file for instance: not copied, and kept alive by `owner`.
    SuccessorMap(Index states, Index actions, std::span<const std::int64_t> offsets,
                 std::span<const std::int32_t> targets, std::shared_ptr<const void> owner);

    Index states() const noexcept { return states_; }
    Index actions() const noexcept { return actions_; }
    Index pairs() const noexcept { return states_ * actions_; }
    Index pair(State s, Action a) const noexcept { return s * actions_ + a; }
    Index entries() const noexcept { return static_cast<Index>(targets_.size()); }

    /// Entries of a pair are first_entry(pair) .. first_entry(pair+1)-1.
    Index first_entry(Index pair) const noexcept { return offsets_[static_cast<std::size_t>(pair)]; }
    /// The first entry of every pair, and the number of entries behind them.
    std::span<const std::int64_t> offsets() const noexcept { return offsets_; }
    Index successors(Index pair) const noexcept { return first_entry(pair + 1) - first_entry(pair); }
    Index max_successors() const noexcept { return max_successors_; }
    /// The pair that an entry is of.
    Index pair_of(Index entry) const noexcept;
    /// Next state of every entry.
    std::span<const std::int32_t> targets() const noexcept { return targets_; }
    /// Next states of one pair, ascending.
    std::span<const std::int32_t> targets(Index pair) const noexcept;
    /// The entry of (pair, successor), or -1 if the successor is not in the pair's support.
    Index find_entry(Index pair, State successor) const noexcept;

    bool operator==(const SuccessorMap& other) const noexcept;

private:
    struct Arrays;  // of a map that was given vectors
    SuccessorMap(Index states, Index actions, const std::shared_ptr<const Arrays>& arrays);
    void check();

    Index states_, actions_, max_successors_ = 0;
    std::shared_ptr<const void> owner_;  // of what follows, which copies share
    std::span<const std::int64_t> offsets_;
    std::span<const std::int32_t> targets_;
};

/// Maps are large and never change: everything that needs one shares it.
using SharedSuccessors = std::shared_ptr<const SuccessorMap>;

}  // namespace alidade
