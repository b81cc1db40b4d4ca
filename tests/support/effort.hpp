#pragma once

#include <cstdlib>
#include <string_view>

namespace alidade::support {

/// How many runs a statistical test makes: the few of every day, or the many of `./dev test --long`.
inline int runs(int usual, int many) {
    const char* effort = std::getenv("ALIDADE_TEST_EFFORT");
    return effort != nullptr && std::string_view(effort) == "long" ? many : usual;
}

/// The most failures allowed of `runs`, each of probability 0.1 at most: mean plus six standard deviations
/// and a little, exceeded with probability below 1e-7 (Bernstein) from 40 runs on.
inline int allowed_failures(int runs) {
    return runs / 10 + static_cast<int>(6.0 * __builtin_sqrt(0.09 * runs)) + 4;
}

}  // namespace alidade::support
