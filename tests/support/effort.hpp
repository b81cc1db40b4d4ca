#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace alidade::support {

/// Whether the variable ALIDADE_TEST_EFFORT says so: "long" (./dev test --long) or "sanitized" (set by
/// ctest).
inline bool effort_is(std::string_view wanted) {
    const char* effort = std::getenv("ALIDADE_TEST_EFFORT");
    return effort != nullptr && wanted == effort;
}

/// How often a test repeats itself: `full` times, and a tenth of them, but `least`, under sanitizers. Those
/// look for faults of memory and undefined behaviour, which the first repetitions meet as well as the last;
/// what only many repetitions show is judged by the build without sanitizers, which makes them all.
template <class Count>
Count repetitions(Count full, Count least = 1) {
    return effort_is("sanitized") ? std::min(full, std::max(full / 10, least)) : full;
}

/// How many episodes an exploration has: `full`, and a hundredth of them, but `least`, under sanitizers. More
/// episodes are more certificates of the same sizes.
template <class Count>
Count episodes(Count full, Count least = 100) {
    return effort_is("sanitized") ? std::min(full, std::max(full / 100, least)) : full;
}

/// How many runs a statistical test makes: the few of every day, or the many of `./dev test --long`.
inline int runs(int usual, int many) {
    return effort_is("long") ? many : repetitions(usual);
}

/// The most failures allowed of `runs`, each of probability 0.1 at most: independent ones are more with
/// probability below 1e-7, by the exact binomial tail.
inline int allowed_failures(int runs) {
    double tail = 0;
    for (int k = runs; k >= 0; --k) {
        tail += std::exp(std::lgamma(runs + 1.0) - std::lgamma(k + 1.0) - std::lgamma(runs - k + 1.0) +
                         k * std::log(0.1) + (runs - k) * std::log(0.9));
        if (tail >= 1e-7) return k;
    }
    return 0;
}

}  // namespace alidade::support
