#pragma once

#include <cstdint>

#include "alidade/model/reward.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// sum over the entries of a pair of probability times value of the target, in the order of entries.
/// The arrays are those of all entries (probabilities, targets) and of all states (value).
inline double expect_entries(const double* probabilities, const std::int32_t* targets, Index begin, Index end,
                             const double* value) {
    double sum = 0;
    for (Index entry = begin; entry < end; ++entry) sum += probabilities[entry] * value[targets[entry]];
    return sum;
}

/// Throws InvalidArgument unless both shapes agree; `what` names the second in the message.
void expect_same_shape(const Shape& model, const Shape& other, const char* what);

/// States first .. last-1: those that a chunk of a sweep has.
struct StateRange {
    State first = 0, last = 0;
};

/// The Bellman backup of step h: value[s] = max over a of r_h(s,a) + E[next(s') | s,a], and the first
/// action that attains it, for the states given. All arrays have one number a state. A null `next` stands for
/// zero. Not inlined into sweeps, where what they share would be read again for every pair.
[[gnu::noinline]] void optimal_backup(const TransitionModel& model, const Reward& reward, Step h,
                                      StateRange states, const double* next, double* value,
                                      std::int32_t* action);

/// The fewest pairs that are worth a chunk of a planner's sweep: a pair takes some ten nanoseconds.
constexpr Index pairs_a_backup = 1024;

}  // namespace alidade::detail
