#pragma once

#include <cstdint>

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// What all pairs of a planning step share, where coordinates of the features lie ready in tiles.
struct CoordinateStep {
    Index dimension = 0;
    const double* inverse = nullptr;      ///< p x p: of the metric
    const double* coordinates = nullptr;  ///< p numbers: of the weights whose expectation is taken
    double scale = 0;                     ///< of the width: radius times range
    int ascents = 0;                      ///< how often the witness may move before the width is taken
};

/// One block, or some lanes of it: pointers at its first number.
struct CoordinateLanes {
    const double* psi;     // [successor][coordinate][lane]
    const double* centre;  // [successor][lane]
    double* witness;       // [successor][lane]
    Index successors;
};

/// psi_V of every lane, `count` coordinates of it from `first` on: as many sums as stay in registers while
/// the features are read in the order in which they lie. With `fetch`, those of the next block are called for
/// meanwhile: the features of a large problem come from the slower caches, and waiting was half of the time.
template <std::size_t count, bool fetch, class Number>
ALIDADE_INLINE void sum_coordinates(const CoordinateLanes& block, Index p, Index first, Number* sum) {
    Number total[count] = {};
    for (Index j = 0; j < block.successors; ++j) {
        const Index place = j * p + first;
        const Number witness = number_at<Number>(block.witness, j);
#if ALIDADE_LANES
        if (fetch)
            for (std::size_t i = 0; i < count; ++i)
                __builtin_prefetch(block.psi +
                                   (place + block.successors * p + static_cast<Index>(i)) * lanes);
#endif
        for (std::size_t i = 0; i < count; ++i)
            total[i] += witness * number_at<Number>(block.psi, place + static_cast<Index>(i));
    }
    for (std::size_t i = 0; i < count; ++i) sum[at(first) + i] = total[i];
}

/// psi_V of every lane into `sum`, Lambda^-1 psi_V into `slope`; |psi_V|^2 in the metric.
template <bool fetch, class Number>
ALIDADE_INLINE Number slope_of(const CoordinateLanes& block, const CoordinateStep& shared, Number* sum,
                               Number* slope) {
    const Index p = shared.dimension;
    Index first = 0;
    for (; first + 8 <= p; first += 8) sum_coordinates<8, fetch>(block, p, first, sum);
    for (; first + 3 <= p; first += 3) sum_coordinates<3, fetch>(block, p, first, sum);
    for (; first < p; ++first) sum_coordinates<1, fetch>(block, p, first, sum);
    Number square{};
    for (Index i = 0; i < p; ++i) {
        Number row{};
        for (Index k = 0; k < p; ++k) row += shared.inverse[i * p + k] * sum[k];
        slope[i] = row;
        square += row * sum[i];
    }
    return square;
}

/// V <- 1{psi_j . Lambda^-1 psi_V > 0}: the maximiser of the linearisation. Whether any lane moved.
/// |psi_V| is convex in V, so that V that maximises its linearisation does not lower it: an ascent, which
/// ends at a vertex of [0,1]^m. A lower end of the width, for planning and for regression features;
/// certificates have upper ends [theory §1.3].
template <class Number>
ALIDADE_INLINE bool move_witness_of(const CoordinateLanes& block, Index p, const Number* slope) {
    const Number zero{}, one = zero + 1.0;
    Number moved{};
    for (Index j = 0; j < block.successors; ++j) {
        Number score{};
        for (Index i = 0; i < p; ++i) score += number_at<Number>(block.psi, j * p + i) * slope[i];
        const Number chosen = where_positive<Number>(score, one, zero);
        const Number change = chosen - number_at<Number>(block.witness, j);
        set_number(block.witness, j, chosen);
        moved += change * change;
    }
    return any_positive(moved);
}

/// E[next(s')] of every lane under the weights.
template <class Number>
ALIDADE_INLINE Number expectation_in(const CoordinateLanes& block, const CoordinateStep& shared,
                                     const double* next) {
    const Index p = shared.dimension;
    Number expected{};
    for (Index j = 0; j < block.successors; ++j) {
        Number probability = number_at<Number>(block.centre, j);
        for (Index i = 0; i < p; ++i)
            probability += shared.coordinates[i] * number_at<Number>(block.psi, j * p + i);
        expected += probability * number_at<Number>(next, j);
    }
    return expected;
}

/// Some lanes: the square of the width, and the expectation of `next`, which is given for every successor.
template <class Number>
ALIDADE_INLINE void pass_over_lanes(const CoordinateLanes& block, const CoordinateStep& shared,
                                    const double* next, Number* scratch, double* squares, double* expected,
                                    bool* moved) {
    // From the witness of the last policy: metrics change little, and a few steps are enough for it to follow
    // [oracle §C.2].
    Number *sum = scratch, *slope = scratch + shared.dimension;
    Number square = slope_of<true>(block, shared, sum, slope);
    for (int step = 0; step < shared.ascents; ++step) {
        // Most witnesses stay most of the time; lanes that all do are done.
        if (!move_witness_of(block, shared.dimension, slope)) break;
        *moved = true;
        square = slope_of<false>(block, shared, sum, slope);
    }
    set_number(squares, 0, square);
    set_number(expected, 0, expectation_in<Number>(block, shared, next));
}

/// Ascent of the widths of eight pairs from their witnesses, and the optimistic backup: as AscentKernel does
/// it, from tiles that have coordinates.
struct CoordinateKernel {
    static Index scratch(Index dimension) { return 2 * dimension * lanes; }

    template <class Number>
    ALIDADE_INLINE static void run(const CoordinateStep& shared, const Tile& tile, const double* next,
                                   double* witness, double* scratch, double* values, bool* moved) {
        double squares[lanes], expected[lanes];
        for (Index l = 0; l < lanes; l += width_of<Number>)
            pass_over_lanes<Number>({tile.psi + l, tile.centre + l, witness + l, tile.successors}, shared,
                                    next + l, reinterpret_cast<Number*>(scratch), squares + l, expected + l,
                                    moved);
        for (Index l = 0; l < lanes; ++l) {
            // Rounding may leave a tiny negative square where nothing can move.
            const double positive = squares[l] > 0 ? squares[l] : 0.0;
            // The bonus, which is range times radius times width, and P~ E of what follows [paper, Alg. 1
            // lines 10-13].
            values[l] = shared.scale * std::sqrt(positive) + expected[l];
        }
    }
};

}  // namespace alidade::detail
