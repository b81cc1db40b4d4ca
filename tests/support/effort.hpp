#pragma once

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace alidade::support {

/// How often a test repeats itself: `full` times, and a tenth of them, but `least`, under sanitizers. Those
/// look for faults of memory and undefined behaviour, which the first repetitions meet as well as the last;
/// what only many repetitions show is judged by the build without sanitizers, which makes them all.
template <class Count>
constexpr Count repetitions(Count full, Count least = 1) {
#ifdef ALIDADE_SANITIZED
    return std::min(full, std::max(full / 10, least));
#else
    static_cast<void>(least);
    return full;
#endif
}

/// How many runs a statistical test makes: the few of every day, or the many of `./dev test --long`.
inline int runs(int usual, int many) {
    const char* effort = std::getenv("ALIDADE_TEST_EFFORT");
    return effort != nullptr && std::string_view(effort) == "long" ? many : repetitions(usual);
}

/// The most failures allowed of `runs`, each of probability 0.1 at most: mean plus six standard deviations
/// and a little, exceeded with probability below 1e-7 (Bernstein) from 40 runs on.
inline int allowed_failures(int runs) {
    return runs / 10 + static_cast<int>(6.0 * __builtin_sqrt(0.09 * runs)) + 4;
}

}  // namespace alidade::support
