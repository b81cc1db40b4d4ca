#pragma once

#include <cmath>
#include <cstdint>

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"
#include "values_soon.hpp"

namespace alidade::detail {

/// What all pairs of a planning step share. Everything is in the features themselves: coordinates of every
/// successor would be as many numbers again.
struct AscentStep {
    Index features = 0, dimension = 0;
    const double* weights = nullptr;  ///< theta: d numbers, whose expectation is taken
    /// p x d, column after column: the inverse factor of the metric times the basis' transpose, so that its
    /// product with phi_V has the length of psi_V in the metric.
    const double* root = nullptr;
    /// Whether what is added to all features of a successor does not count (coordinates of base models). Then
    /// differences from the first are taken, and base models that agree carry exactly no information.
    bool centred = false;
    double scale = 0;  ///< of the width: radius times range
    int ascents = 0;   ///< how often the witness may move before the width is taken
};

/// Columns of the features that are summed in registers.
constexpr Index summed_together = 5;

/// Values of later blocks, so many of them called for with every successor of this one.
struct Calls {
    ValuesSoon soon;
    Index share = 0;

    constexpr Calls(const ValuesSoon& values, Index successors, Index features) : soon(values) {
        const Index steps = successors * (features / summed_together + features % summed_together);
        share = steps > 0 ? (soon.left() + steps - 1) / steps : 0;
    }
};

/// phi_V of the witness and phi_next, `count` elements from `first` on, in one reading of the features. With
/// `next_too`: both, and values are called for; else the witness' alone.
template <std::size_t count, bool next_too, class Number>
ALIDADE_INLINE void sum_both(const Tile& tile, Index lane, Index d, Index first, const double* witness,
                             const double* value, Number* of_witness, Number* of_next, Calls& calls) {
    Number chosen[count] = {}, expected[count] = {};
    for (Index j = 0; j < tile.successors; ++j) {
        const double* const phi = tile.phi + (j * d + first) * lanes + lane;
        const Number w = number_at<Number>(witness + lane, j);
        Number v{};
        if constexpr (next_too) {
            v = number_at<Number>(value + lane, j);
            calls.soon.call_for(calls.share);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const Number x = number_at<Number>(phi, static_cast<Index>(i));
            chosen[i] += w * x;
            if constexpr (next_too) expected[i] += v * x;
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        of_witness[at(first) + i] = chosen[i];
        if constexpr (next_too) of_next[at(first) + i] = expected[i];
    }
}

template <bool next_too, class Number>
ALIDADE_INLINE void sum_features_of(const Tile& tile, Index lane, Index d, const double* witness,
                                    const double* value, Number* of_witness, Number* of_next, Calls& calls) {
    Index first = 0;
    for (; first + summed_together <= d; first += summed_together)
        sum_both<summed_together, next_too>(tile, lane, d, first, witness, value, of_witness, of_next, calls);
    for (; first < d; ++first)
        sum_both<1, next_too>(tile, lane, d, first, witness, value, of_witness, of_next, calls);
}

/// `count` sums over the rows of a table, total[c] = sum_i table(i, first + c) x[i], in registers.
template <std::size_t count, class Number>
ALIDADE_INLINE void sum_products(const double* table, Index across, Index along, Index rows, const Number* x,
                                 Number* sums) {
    Number total[count] = {};
    for (Index i = 0; i < rows; ++i)
        for (std::size_t c = 0; c < count; ++c)
            total[c] += table[i * along + static_cast<Index>(c) * across] * x[i];
    for (std::size_t c = 0; c < count; ++c) sums[c] = total[c];
}

/// `columns` of them: entries of a column are `along` apart, columns `across`.
template <class Number>
ALIDADE_INLINE void multiply_table(const double* table, Index across, Index along, Index rows, Index columns,
                                   const Number* x, Number* sums) {
    Index c = 0;
    for (; c + 5 <= columns; c += 5) sum_products<5>(table + c * across, across, along, rows, x, sums + c);
    for (; c + 2 <= columns; c += 2) sum_products<2>(table + c * across, across, along, rows, x, sums + c);
    for (; c < columns; ++c) sum_products<1>(table + c * across, across, along, rows, x, sums + c);
}

/// |psi_V|^2 in the metric, from phi_V; `image` gets psi_V there.
template <class Number>
ALIDADE_INLINE Number square_in_metric(const AscentStep& step, Number* phi_value, Number* image) {
    const Index d = step.features, p = step.dimension;
    if (step.centred) {
        const Number first = phi_value[0];
        for (Index i = 0; i < d; ++i) phi_value[i] -= first;
    }
    const Index begin = step.centred ? 1 : 0;
    multiply_table(step.root + begin * p, 1, p, d - begin, p, phi_value + begin, image);
    Number square{};
    for (Index k = 0; k < p; ++k) square += image[k] * image[k];
    return square;
}

/// The slope of the width by a successor's features; of base models less their sum in the first's place, so
/// that what is added to all of them does not count. Returns what a score may be by rounding alone, as a
/// multiple of the first feature: where base models agree it is no more, and they carry no information.
template <class Number>
ALIDADE_INLINE Number find_slope(const AscentStep& step, const Number* image, Number* slope) {
    const Index d = step.features, p = step.dimension, begin = step.centred ? 1 : 0;
    multiply_table(step.root + begin * p, p, 1, p, d - begin, image, slope + begin);
    Number doubt{};
    if (!step.centred) return doubt;
    Number sum{}, size{};
    for (Index i = begin; i < d; ++i) {
        sum += slope[i];
        size += size_of(slope[i]);
    }
    slope[0] = -sum;
    return (static_cast<double>(4 * d) * 0x1p-53) * size;
}

/// `count` successors from `first` on; `moved` adds up how many of them did, lane by lane.
template <std::size_t count, class Number>
ALIDADE_INLINE void move_some(const Tile& tile, Index lane, Index d, Index first, const Number* slope,
                              const Number& doubt, double* witness, Number& moved) {
    const Number zero{}, one = all_lanes<Number>(1);
    const double* const phi = tile.phi + first * d * lanes + lane;
    Number score[count] = {};
    for (Index i = 0; i < d; ++i) {
        const Number by = slope[i];
        for (std::size_t j = 0; j < count; ++j)
            score[j] += number_at<Number>(phi, static_cast<Index>(j) * d + i) * by;
    }
    for (std::size_t j = 0; j < count; ++j) {
        const auto k = static_cast<Index>(j);
        const Number chosen = score[j] > doubt * number_at<Number>(phi, k * d) ? one : zero;
        const Number change = chosen - number_at<Number>(witness + lane, first + k);
        moved += change * change;
        set_number(witness + lane, first + k, chosen);
    }
}

/// V <- 1{psi_j . Lambda^-1 psi_V > 0}: the maximiser of the linearisation. Whether any lane moved.
/// |psi_V| is convex in V, so that V that maximises its linearisation does not lower it: an ascent, which
/// ends at a vertex of [0,1]^m. A lower end of the width, for planning and for regression features;
/// certificates have upper ends [theory §1.3]. Several successors at a time: their sums do not wait for each
/// other, and the slope is read once for them.
template <class Number>
ALIDADE_INLINE bool move_witness(const AscentStep& step, const Tile& tile, Index lane, const Number* image,
                                 Number* slope, double* witness) {
    const Index d = step.features, m = tile.successors;
    const Number doubt = find_slope(step, image, slope);
    Number moved{};
    Index j = 0;
    for (; j + 5 <= m; j += 5) move_some<5>(tile, lane, d, j, slope, doubt, witness, moved);
    for (; j + 2 <= m; j += 2) move_some<2>(tile, lane, d, j, slope, doubt, witness, moved);
    for (; j < m; ++j) move_some<1>(tile, lane, d, j, slope, doubt, witness, moved);
    return any_of(moved > Number{});
}

/// Ascent of the widths of eight pairs from their witnesses, and the optimistic backup.
struct AscentKernel {
    static Index scratch(Index features, Index dimension) { return (3 * features + dimension) * lanes; }

    /// `witness`, [successor][lane], zeros and ones, is moved, and `moved` told so; values[lane] = scale
    /// width
    /// + E[next(s')], with `value`, [successor][lane], being next(s').
    template <class Number>
    ALIDADE_INLINE static void run(const AscentStep& step, const Tile& tile, const double* value,
                                   const ValuesSoon& soon, double* witness, double* scratch, double* values,
                                   bool* moved) {
        const Index d = step.features;
        Calls calls(soon, tile.successors, d);
        auto* const phi_value = reinterpret_cast<Number*>(scratch);
        Number *const phi_next = phi_value + d, *const slope = phi_next + d, *const image = slope + d;
        const Number zero{};
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            sum_features_of<true>(tile, l, d, witness, value, phi_value, phi_next, calls);
            Number expected{};
            for (Index i = 0; i < d; ++i) expected += step.weights[i] * phi_next[i];
            // From the witness of the last policy: metrics change little, and a few steps are enough for it
            // to follow [oracle §C.2]. Most witnesses stay most of the time; lanes that all do are done.
            Number square = square_in_metric(step, phi_value, image);
            for (int ascent = 0; ascent < step.ascents; ++ascent) {
                if (!move_witness(step, tile, l, image, slope, witness)) break;
                *moved = true;
                sum_features_of<false>(tile, l, d, witness, value, phi_value, phi_next, calls);
                square = square_in_metric(step, phi_value, image);
            }
            // The bonus, which is range times radius times width, and P~ E of what follows [paper, Alg. 1
            // lines 10-13].
            set_number(values + l, 0, step.scale * root_of(greater_of(zero, square)) + expected);
        }
    }
};

}  // namespace alidade::detail
