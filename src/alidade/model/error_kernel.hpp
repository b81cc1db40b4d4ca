#pragma once

#include <cstdint>
#include <span>

#include "lane_tiles.hpp"
#include "row_kernels.hpp"

namespace alidade::detail {

/// Learned probabilities up to this are taken to be zero where values may be infinite.
constexpr double negligible_mass = 1e-15;

/// What a block of eight pairs brings to a step of a recursion, and what it leaves behind.
struct ErrorBlock {
    Tile tile;
    Index features = 0;
    const double* next = nullptr;         ///< [vector][successor][lane]: values of successors
    const Index* vector = nullptr;        ///< [step]: which of the vectors is the step's
    const double* deviations = nullptr;   ///< [step][lane]
    const double* divergences = nullptr;  ///< [step][lane]
    const double* ranges = nullptr;       ///< [step][lane]
    const double* laters = nullptr;       ///< [step][lane]
    double* values = nullptr;             ///< [step][lane]: written
    double* strange = nullptr;            ///< [step][lane]: one where `alone` has to be asked
};

/// One lane or several of a block, with room for what is computed on the way.
template <class Number>
struct ErrorLanes {
    Rows rows;
    const Number* law;    // of every successor
    const double* value;  // [successor][lane]: next(s')
    Number* direction;    // d numbers
    Number* dual;         // p numbers
    Number tau, divergence, range, later;
};

template <class Number>
ALIDADE_INLINE Number over_ball(const ErrorStep& step, const ErrorLanes<Number>& lane, Number& strange) {
    const Number one = all_lanes<Number>(1);
    features_of_value(lane.rows, lane.value, lane.direction);
    const Number upper = largest_over_ball(*step.ball, lane.direction, lane.dual, strange);
    Number largest{};
    for (Index j = 0; j < lane.rows.successors; ++j)
        largest = greater_of(largest, size_of(number_at<Number>(lane.value, j)));
    // Each product may have been rounded by the least number there is: zero must be a proof.
    strange = where_positive<Number>(
        largest, where_less<Number>(upper, all_lanes<Number>(least_expectation), one, strange), strange);
    return lesser_of(upper + step.off, all_lanes<Number>(step.most));
}

/// U_h of [docs/algorithms/likelihood.md, Theorem 8].
template <class Number>
ALIDADE_INLINE Number by_total_variance(const ErrorStep& step, const ErrorLanes<Number>& lane,
                                        Number& strange) {
    const ErrorStep::Variance& given = step.variance;
    // sqrt(chi Var) <= (c/2) (1+eta)^h chi + Var / (2c (1+eta)^h). The variances are paid for once, at the
    // start, by the law of total variance [bernstein §4.3].
    const Number now = lesser_of(lane.range * lane.tau, given.leverage * lane.divergence);
    // Nothing can differ at the last learned step's successors, nor where nothing can be earned after them.
    const Number zero{}, one = all_lanes<Number>(1);
    if (!any_positive(lane.later)) return now;
    // P|D| from P~|D|: (P - P~)|D| <= sqrt(chi (n-1) P~|D|) <= eta P~|D| + chi (n-1)/(4 eta); a divergence
    // may be infinite.
    const Number expected = expectation_of(lane.law, lane.value, lane.rows.successors);
    const Number grown =
        where_positive<Number>(lane.later, lane.divergence * lane.later / (4 * given.growth), zero);
    const Number by_growth = (1 + given.growth) * expected + grown;
    // Or by the maximum over the set; then the variances that are yet to be paid are averaged under P, which
    // costs tau times their range. P~ is a member: where that is too much for it already, the maximum need
    // not be known.
    const Number yet = lane.tau * lane.later * lane.later / given.yet;
    const Number before = strange;
    const Number needed = where_less<Number>(expected + yet, by_growth, one, zero);
    if (!any_positive(needed)) return now + by_growth;
    const Number by_set = lesser_of(by_growth, over_ball(step, lane, strange) + yet);
    strange = where_positive<Number>(needed, strange, before);
    return now + where_positive<Number>(needed, by_set, by_growth);
}

template <class Number>
ALIDADE_INLINE Number error_of(const ErrorStep& step, const ErrorLanes<Number>& lane, Number& strange) {
    const Index m = lane.rows.successors;
    switch (step.kind) {
        case ErrorStep::Kind::model:
            // |(P - P~) V| <= TV times the range of V, V being the policy's value under the truth; what
            // follows is averaged under P~ [docs/algorithms/hoeffding.md, Lemma 3]. The span of values in the
            // model must not stand for the range here [theory §3l].
            return lesser_of(lane.range, lane.range * lane.tau + expectation_of(lane.law, lane.value, m));
        case ErrorStep::Kind::coupling:
            // It does not fall as tau grows, because no value exceeds the range, so any tau above the total
            // variation is valid. It needs no clip: it is a mean of the range and of values, with weights tau
            // and 1 - tau [likelihood §4 A].
            return lane.tau * lane.range + mean_less_mass(lane.law, lane.value, m, lane.tau);
        case ErrorStep::Kind::ball:
            // D_h = (P - P~) V~ + P D_{h+1}: with the model's value in the first term it is the truth that
            // averages the second, hence the maximum over the set [docs/algorithms/hoeffding.md, Lemma 4b].
            return lesser_of(lane.range, step.span * lane.tau + over_ball(step, lane, strange));
        case ErrorStep::Kind::divergence:
            return lesser_of(all_lanes<Number>(step.most), lane.divergence) +
                   expectation_of_possible(lane.law, lane.value, m, negligible_mass);
        case ErrorStep::Kind::total_variance:
            break;
    }
    return by_total_variance(step, lane, strange);
}

/// One step of several recursions at eight pairs.
struct ErrorKernel {
    /// Numbers of scratch memory: laws, a direction and its dual.
    static Index scratch(Index successors, Index features) { return (successors + 2 * features) * lanes; }

    template <class Number>
    ALIDADE_INLINE static void run(const ErrorBlock& block, const double* weights,
                                   std::span<const ErrorStep> together, double* scratch) {
        const Index m = block.tile.successors, d = block.features;
        Number* const law = reinterpret_cast<Number*>(scratch);
        Number* const direction = reinterpret_cast<Number*>(scratch + m * lanes);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            const Rows rows{block.tile.phi + l, m, d};
            laws_of(rows, weights, law);
            for (std::size_t k = 0; k < together.size(); ++k) {
                const ErrorStep& step = together[k];
                const double* const value = block.next + block.vector[k] * m * lanes + l;
                const auto place = static_cast<Index>(k);
                Number strange{};
                const Number error = error_of<Number>(
                    step,
                    {rows, law, value, direction, direction + d,
                     number_at<Number>(block.deviations + l, place),
                     number_at<Number>(block.divergences + l, place),
                     number_at<Number>(block.ranges + l, place), number_at<Number>(block.laters + l, place)},
                    strange);
                set_number(block.values + l, place, error);
                set_number(block.strange + l, place, strange);
            }
        }
    }
};

}  // namespace alidade::detail
