#pragma once

#include <cstdint>

/// The system itself: it knows nothing of who asks.
namespace walk {

/// A chain of states: action 1 goes right, or slips back to the start with probability 0.35; action 0 goes
/// back.
class Walk {
public:
    Walk(int states, std::uint64_t seed) : states_(states), chance_(seed) {}
    int state() const { return state_; }
    void step(int action) {
        const bool slips = uniform() < 0.35;
        if (action == 0 || slips)
            state_ = 0;
        else if (state_ + 1 < states_)
            ++state_;
    }

private:
    /// SplitMix64: all that is random comes from the episode's seed.
    double uniform() {
        std::uint64_t word = chance_ += 0x9e3779b97f4a7c15;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
        word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
        return static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53;
    }

    int states_, state_ = 0;
    std::uint64_t chance_;
};

}  // namespace walk
