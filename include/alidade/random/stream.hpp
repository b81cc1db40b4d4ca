#pragma once

#include <array>
#include <cstdint>

namespace alidade {

/// What a stream is drawn for; streams of different purposes never share a word.
enum class Purpose : std::uint64_t {
    instance = 1,     ///< kernels and weights of a built-in problem
    simulation = 2,   ///< the simulated system, step by step
    splitting = 3,    ///< the simulated system, by count splitting
    ties = 4,         ///< an explorer's last resort between equal actions
    audit = 5,        ///< rewards of an audit
    test = 6,         ///< tests and benchmarks
    width = 7,        ///< starts of width searches
    aggregation = 8,  ///< draws that turn simulators into base kernels
    tree_search = 9,  ///< episodes drawn by a planner
    reward = 10,      ///< random rewards that are asked for by name
    starts = 11,      ///< where searches over policies and rewards begin
    system = 12,      ///< seeds of episodes that another program runs
};

/// One block of Philox4x64-10: four words for a counter and a key.
std::array<std::uint64_t, 4> philox(const std::array<std::uint64_t, 4>& counter,
                                    const std::array<std::uint64_t, 2>& key);

/// A sequence of random 64-bit words, addressed and not seeded: key = (seed, purpose), counter =
/// (block, step, episode, 0). The same address gives the same words on any thread, rank or machine,
/// and in NumPy: `numpy.random.Philox(key=[seed, purpose], counter=[c, step, episode, 0])` starts at
/// our block c+1, because it increments before it draws (pass uint64 arrays: NumPy rounds a list that
/// mixes numbers above and below 2^63).
class Stream {
public:
    Stream(std::uint64_t seed, Purpose purpose, std::uint64_t episode = 0, std::uint64_t step = 0);

    /// The next word; all 2^64 values are equally likely.
    std::uint64_t next() {
        if (position_ == 4) refill();
        return words_[position_++];
    }

private:
    void refill();

    std::array<std::uint64_t, 2> key_;
    std::array<std::uint64_t, 4> counter_;
    std::array<std::uint64_t, 4> words_{};
    unsigned position_ = 4;
};

}  // namespace alidade
