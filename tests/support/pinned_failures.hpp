#pragma once

#include <gtest/gtest.h>

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
inline testing::AssertionResult failures_are(int failures, int runs,
                                             std::initializer_list<PinnedFailures> pins) {
    const int allowed = allowed_failures(runs);
    const char* bound = failures <= allowed ? "still holds" : "no longer holds";
    for (const PinnedFailures& pin : pins)
        if (pin.runs == runs && pin.failures != failures)
            return testing::AssertionFailure()
                   << "the observed count changed: " << failures << " of " << runs << " runs failed, "
                   << pin.failures << " did before; the binomial bound of " << allowed << " " << bound;
    if (failures <= allowed) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << failures << " of " << runs << " runs failed; the binomial bound of " << allowed << " " << bound;
}

}  // namespace alidade::support
