#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "alidade/types.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"
#include "parallel.hpp"

namespace alidade::detail {

/// Values of the next step that one pass reads: one vector, or several with a state's numbers side by side,
/// so that a successor is one place in memory, however many are asked for.
class NextValues {
public:
    explicit NextValues(std::span<const double> only) : numbers_(only.data()), place_{0} {}

    /// Vectors that are given twice are held once.
    NextValues(std::span<const std::span<const double>> given, Threads threads) {
        std::vector<const double*> different;
        for (const auto& vector : given) {
            const auto found = std::ranges::find(different, vector.data());
            place_.push_back(found - different.begin());
            if (found == different.end()) different.push_back(vector.data());
        }
        vectors_ = std::ssize(different);
        if (vectors_ == 1) numbers_ = different.front();
        if (vectors_ <= 1) return;
        const Index states = std::ssize(given.front());
        memory_.resize(at(states * vectors_));
        numbers_ = memory_.data();
        in_chunks(states, 4096, threads, [&](Index first, Index last) {
            for (State s = first; s < last; ++s)
                for (Index v = 0; v < vectors_; ++v) memory_[at(s * vectors_ + v)] = different[at(v)][s];
        });
    }

    Index vectors() const noexcept { return vectors_; }  ///< different ones
    /// Where the k-th that was given lies among them.
    Index place(std::size_t k) const noexcept { return place_[k]; }
    const double* of(State s) const noexcept { return numbers_ + s * vectors_; }

private:
    const double* numbers_ = nullptr;  // [state][vector]
    Index vectors_ = 1;
    std::vector<Index> place_;
    std::vector<double> memory_;
};

/// Values of the successors of blocks that are asked for one after another, gathered for many at a time: a
/// machine that reads the features in order foresees them, and forgets how when places far apart are read
/// between two blocks (twice the time at 100,000 states).
class ValuesAhead {
public:
    /// Of blocks up to `last`, which is left out. All must outlive it.
    ValuesAhead(const LaneTiles& tiles, const NextValues& next, Index last)
        : tiles_(tiles),
          next_(next),
          last_(last),
          stride_(tiles.blocks().most_successors * next.vectors() * lanes),
          memory_(at(std::min(last, together) * stride_ + lanes)),
          values_(aligned_lanes(memory_)) {}

    /// [vector][successor][lane] of a block.
    const double* of(Index block) {
        if (block < first_ || block >= end_) gather(block);
        return values_ + (block - first_) * stride_;
    }

private:
    void gather(Index block) {
        first_ = block;
        end_ = std::min(last_, block + together);
        for (Index b = first_; b < end_; ++b) gather_block(b, values_ + (b - first_) * stride_);
    }
    void gather_block(Index block, double* to) const {
        const SuccessorMap& map = tiles_.successors();
        const Index vectors = next_.vectors(), m = tiles_.blocks().successors(block);
        if (const Index pair = block * lanes;
            vectors == 1 && pair + lanes <= map.pairs() &&
            map.first_entry(pair + lanes) - map.first_entry(pair) == m * lanes) {
            // Eight pairs that have m successors each, as none has more.
            const std::int32_t* target = map.targets().data() + map.first_entry(pair);
            const double* const from = next_.of(0);
            for (Index lane = 0; lane < lanes; ++lane, target += m)
                for (Index j = 0; j < m; ++j) to[j * lanes + lane] = from[target[j]];
            return;
        }
        for (Index lane = 0; lane < lanes; ++lane) {
            const Index pair = block * lanes + lane;
            const bool there = pair < map.pairs();
            const Index begin = there ? map.first_entry(pair) : 0, count = there ? map.successors(pair) : 0;
            for (Index j = 0; j < m; ++j) {
                // No successor has no features: any value does.
                const double* const from = next_.of(j < count ? map.targets()[at(begin + j)] : 0);
                for (Index v = 0; v < vectors; ++v) to[(v * m + j) * lanes + lane] = from[v];
            }
        }
    }

    const LaneTiles& tiles_;
    const NextValues& next_;
    static constexpr Index together = 32;  // blocks
    Index last_, stride_, first_ = 0, end_ = 0;
    std::vector<double> memory_;
    double* values_;
};

}  // namespace alidade::detail
