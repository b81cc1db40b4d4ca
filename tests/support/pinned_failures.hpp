#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "support/effort.hpp"

namespace alidade::support {

/// How many of so many runs with fixed seeds failed when this was last looked at.
struct PinnedFailures {
    int runs, failures;
};

/// Seeds are fixed, so the number of failures is too. A binomial bound alone has little power: nineteen of a
/// hundred runs may fail before it speaks, where one did. A pin speaks as soon as anything changes, and says
/// whether the bound still holds. Where no pin is for that many runs (sanitizers), the bound is all.
inline ::testing::AssertionResult failures_are(int failures, int runs,
                                             std::initializer_list<PinnedFailures> pins) {
    const int allowed = allowed_failures(runs);
    const char* bound = failures <= allowed ? "still holds" : "no longer holds";
    for (const PinnedFailures& pin : pins)
        if (pin.runs == runs && pin.failures != failures)
            return ::testing::AssertionFailure()
                   << "the observed count changed: " << failures << " of " << runs << " runs failed, "
                   << pin.failures << " did before; the binomial bound of " << allowed << " " << bound;
    if (failures <= allowed) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << failures << " of " << runs << " runs failed; the binomial bound of " << allowed << " " << bound;
}

/// How deep the truth was in its sets, in radii, at the worst of so many runs. Where no run failed a count is
/// blind; this moves by a tenth with the radius.
struct PinnedDepth {
    int runs;
    double depth;
};

inline ::testing::AssertionResult depth_is(double depth, int runs, std::initializer_list<PinnedDepth> pins) {
    for (const PinnedDepth& pin : pins)
        if (pin.runs == runs && !(std::abs(depth - pin.depth) <= 0.01 * pin.depth))
            return ::testing::AssertionFailure()
                   << "the truth was " << depth << " radii from an estimate at the worst of " << runs
                   << " runs, and " << pin.depth << " before: radii or estimates have changed";
    return ::testing::AssertionSuccess();
}

}  // namespace alidade::support
