#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "alidade/model/shape.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// Goes through the steps of a decision process, and through all states of a step in chunks that threads
/// share. A chunk writes what belongs to its own states at its step, and reads what the steps before it in
/// the sweep have left behind, so that nothing depends on the number of threads or chunks.
///
/// What pairs bring with them (scratch memory, solvers) is made once a chunk, by `make`, and used for all
/// steps.
class Sweep {
public:
    /// Chunks begin at multiples of this many states, so that no block of so many pairs lies in two chunks.
    static constexpr Index alignment = 8;

    /// `grain`: the fewest pairs that are worth a chunk. 64 suit pairs of a microsecond each.
    Sweep(const Shape& shape, Threads threads, Index grain);

    Index chunks() const noexcept { return chunks_; }

    /// work(scratch, h, first, last) for the states first .. last-1 of the steps h = last_step, .., 1, 0.
    template <class Make, class Work>
    void backwards(Step last_step, const Make& make, const Work& work) const {
        run(
            last_step + 1, make,
            [&](auto& scratch, Step k, State first, State last) {
                work(scratch, last_step - k, first, last);
            },
            nothing_before);
    }

    /// The same for the steps h = 0, 1, .., steps-1. The states are those that are arrived at, if anything is
    /// passed on: `entries_into` has the entries of a pair that lead to them.
    template <class Make, class Work>
    void forwards(Index steps, const Make& make, const Work& work) const {
        run(steps, make, work, nothing_before);
    }

    /// The same, and before(h) on the caller's thread before each step begins.
    template <class Make, class Work, class Before>
    void forwards(Index steps, const Make& make, const Work& work, const Before& before) const {
        run(steps, make, work, before);
    }

private:
    using Before = std::function<void(Index step)>;
    using Chunk = std::function<void(Index step, Index chunk)>;
    static void nothing_before(Index) {}

    template <class Make, class Work, class First>
    void run(Index steps, const Make& make, const Work& work, const First& before) const {
        if (chunks_ == 1) {
            // A small problem is done in a microsecond: nothing is set up for it.
            auto own = make();
            for (Index step = 0; step < steps; ++step) {
                before(step);
                work(own, step, State{0}, states_);
            }
            return;
        }
        std::vector<std::optional<std::invoke_result_t<const Make&>>> scratch(at(chunks_));
        run_chunks(steps, before, [&](Index step, Index chunk) {
            auto& own = scratch[at(chunk)];
            if (!own) own.emplace(make());
            work(*own, step, chunk * states_each_, std::min(states_, (chunk + 1) * states_each_));
        });
    }
    /// All chunks of a step are done before the next begins.
    void run_chunks(Index steps, const Before& before, const Chunk& chunk) const;

    Index states_, states_each_, chunks_;
    int threads_;
};

/// For sweeps that need no scratch memory.
struct NoScratch {};
inline NoScratch no_scratch() {
    return {};
}

/// The entries of a pair that lead to the states first .. last-1: a range of positions, successors ascend.
/// Whoever sums over pairs in their order, one chunk of targets at a time, adds in the order of a loop over
/// all entries.
inline std::pair<Index, Index> entries_into(const SuccessorMap& map, Index pair, State first, State last) {
    const Index begin = map.first_entry(pair), end = map.first_entry(pair + 1);
    if (first == 0 && last == map.states()) return {begin, end};
    const std::int32_t* const targets = map.targets().data();
    const std::int32_t* const from = std::lower_bound(targets + begin, targets + end, first);
    return {from - targets, std::lower_bound(from, targets + end, last) - targets};
}

/// The largest of what the actions of a state are worth.
struct BestAction {
    double value;
    Action action;
};

/// Over value(pair), from `least` up: the first action that attains the maximum, or the action 0 and `least`
/// if none is above it. What is not a number is taken, so that it shows.
template <class Value>
BestAction best_action(const Shape& shape, State s, double least, const Value& value) {
    BestAction best{least, 0};
    for (Action a = 0; a < shape.actions; ++a) {
        const double worth = value(shape.pair(s, a));
        if (!(worth <= best.value)) best = {worth, a};
    }
    return best;
}

}  // namespace alidade::detail
