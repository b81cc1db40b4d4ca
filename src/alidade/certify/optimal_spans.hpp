#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// From so many pairs of pairs on nothing is computed that looks at all of them.
inline constexpr Index most_pairs_of_pairs = 10'000;

/// How much optimal values in the model vary, at most, whatever the reward: sp_h of
/// [docs/algorithms/two-chains.md, Lemma 2], the larger of both orders. Where pairs of pairs are too many it
/// is one number a step, that of `span`.
class OptimalSpans {
public:
    OptimalSpans(const LearnedModel& learned, Threads threads);

    /// Whether two states have a number of their own.
    bool pairwise() const noexcept { return !between_.empty(); }
    /// |V~*_h(x) - V~*_h(y)| for every reward, at most.
    double between(Step h, State x, State y) const noexcept {
        if (x == y) return 0;
        return between_.empty() ? of_step_[at(h)] : between_[at(h)][at(x * states_ + y)];
    }
    /// Over a set of states.
    double over(Step h, std::span<const std::int32_t> states) const noexcept;
    /// Over all states.
    double over_all(Step h) const noexcept { return of_step_[at(h)]; }
    /// Between a state of one set and one of another.
    double across(Step h, std::span<const std::int32_t> one,
                  std::span<const std::int32_t> other) const noexcept;

private:
    Index states_;
    std::vector<double> of_step_;               // H + 1 numbers
    std::vector<std::vector<double>> between_;  // H + 1 times states x states; none if there are too many
};

}  // namespace alidade::detail
