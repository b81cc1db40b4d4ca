#pragma once

#include <cmath>
#include <cstdint>

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lane_rows.hpp"
#include "lanes.hpp"

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
    /// Whether root(k, i) is zero for i > k+1: a factor is triangular, and so is Helmert's basis.
    bool triangular = false;
    double scale = 0;  ///< of the width: radius times range
    int ascents = 0;   ///< how often the witness may move before the width is taken
};

/// Eight pairs as they lie in memory: rows of features, a row a successor. Reading them in their order, each
/// row once for all sums, is what a machine foresees; turning all of them into lanes first took as long as
/// the arithmetic. A row is read by eights, so that up to seven numbers behind the last must be there.
struct PairRows {
    const double* phi[lanes];
    const std::int32_t* target[lanes];
    Index successors[lanes];
    Index least = 0, most = 0;        ///< successors of the pairs that have fewest and most
    const double* next = nullptr;     ///< one a state: values that follow
    const double* nothing = nullptr;  ///< a row of zeros
    Index later = 0;                  ///< so many numbers later are the features of the next eight
};

/// d, rounded up to eights.
constexpr Index padded(Index features) {
    return (features + lanes - 1) / lanes * lanes;
}

/// Vectors of one row of eight numbers.
template <class Number>
constexpr Index parts_of_row = lanes / width_of<Number>;

/// phi_V of the witness and phi_next of one pair, `eights` times eight elements from `first` on. With
/// `next_too`: both; else the witness' alone.
template <Index eights, bool next_too, class Number>
ALIDADE_INLINE void sum_rows(const PairRows& pairs, Index lane, Index d, Index first, const double* witness,
                             double* of_witness, double* of_next) {
    constexpr Index parts = eights * parts_of_row<Number>, width = width_of<Number>;
    Number chosen[at(parts)] = {}, expected[at(parts)] = {};
    const double* row = pairs.phi[lane] + first;
    const std::int32_t* const target = pairs.target[lane];
    for (Index j = 0; j < pairs.successors[lane]; ++j, row += d) {
        const double w = witness[j * lanes + lane];
        double v = 0;
        if constexpr (next_too) {
            v = pairs.next[target[j]];
#if ALIDADE_LANES
            // Not to be kept, since it is read once a step.
            for (Index e = 0; e < eights; ++e) __builtin_prefetch(row + pairs.later + e * lanes, 0, 0);
#endif
        }
        for (Index q = 0; q < parts; ++q) {
            auto x = numbers_from<Number>(row + q * width);
            if constexpr (next_too) keep_in_register(x);
            chosen[q] += w * x;
            if constexpr (next_too) expected[q] += v * x;
        }
    }
    for (Index q = 0; q < parts; ++q) {
        numbers_to(of_witness + first + q * width, chosen[q]);
        if constexpr (next_too) numbers_to(of_next + first + q * width, expected[q]);
    }
}

/// Rows of `size` numbers, a multiple of eight, one for each lane, into lanes.
template <class Number>
ALIDADE_INLINE void rows_to_lanes(const double* rows, Index size, Number* to) {
    constexpr Index width = width_of<Number>;
    for (Index first = 0; first < size; first += width) {
        for (Index r = 0; r < width; ++r) to[first + r] = numbers_from<Number>(rows + r * size + first);
        transpose(to + first);
    }
}
template <class Number>
ALIDADE_INLINE void lanes_to_rows(const Number* from, Index size, double* rows) {
    constexpr Index width = width_of<Number>;
    for (Index first = 0; first < size; first += width) {
        Number row[at(width)];
        for (Index r = 0; r < width; ++r) row[r] = from[first + r];
        transpose(row);
        for (Index r = 0; r < width; ++r) numbers_to(rows + r * size + first, row[r]);
    }
}

/// Memory of the kernel: rows and numbers in lanes.
template <class Number>
struct AscentScratch {
    double *row, *other_row;  // [lane][padded]
    Number *phi_value, *phi_next, *slope, *image;
};

template <bool next_too, class Number>
ALIDADE_INLINE void sum_features_of(const PairRows& pairs, Index lane, Index d, const double* witness,
                                    const AscentScratch<Number>& scratch) {
    // As many eights at once as leave registers for their sums.
    constexpr Index together = width_of<Number> >= 4 ? 2 : 1;
    const Index size = padded(d);
    for (Index l = 0; l < width_of<Number>; ++l) {
        double *const chosen = scratch.row + l * size, *const expected = scratch.other_row + l * size;
        Index first = 0;
        for (; first + together * lanes <= size; first += together * lanes)
            sum_rows<together, next_too, Number>(pairs, lane + l, d, first, witness, chosen, expected);
        for (; first < size; first += lanes)
            sum_rows<1, next_too, Number>(pairs, lane + l, d, first, witness, chosen, expected);
    }
    rows_to_lanes(scratch.row, size, scratch.phi_value);
    if constexpr (next_too) rows_to_lanes(scratch.other_row, size, scratch.phi_next);
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

/// What of a column of a table is not zero.
enum class Filled { all, to_diagonal, from_diagonal };

template <std::size_t count, class Number>
ALIDADE_INLINE void multiply_columns(const double* table, Index across, Index along, Index rows, Index column,
                                     Filled filled, const Number* x, Number* sums) {
    const Index behind = column + static_cast<Index>(count);
    const Index begin = filled == Filled::from_diagonal ? column : 0;
    const Index end = filled == Filled::to_diagonal && behind < rows ? behind : rows;
    sum_products<count>(table + column * across + begin * along, across, along, end - begin, x + begin,
                        sums + column);
}

/// `columns` of them: entries of a column are `along` apart, columns `across`.
template <class Number>
ALIDADE_INLINE void multiply_table(const double* table, Index across, Index along, Index rows, Index columns,
                                   Filled filled, const Number* x, Number* sums) {
    Index c = 0;
    for (; c + 5 <= columns; c += 5) multiply_columns<5>(table, across, along, rows, c, filled, x, sums);
    for (; c + 2 <= columns; c += 2) multiply_columns<2>(table, across, along, rows, c, filled, x, sums);
    for (; c < columns; ++c) multiply_columns<1>(table, across, along, rows, c, filled, x, sums);
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
    multiply_table(step.root + begin * p, 1, p, d - begin, p,
                   step.triangular ? Filled::to_diagonal : Filled::all, phi_value + begin, image);
    Number square{};
    for (Index k = 0; k < p; ++k) square += image[k] * image[k];
    return square;
}

/// The slope of the width by a successor's features; of base models less their sum in the first's place, so
/// that what is added to all of them does not count, and less what a score may be by rounding alone: where
/// base models agree it is no more, and they carry no information. (That sum, its difference and a score of
/// at most d/8 + 4 additions round by less than 4 d units of the slope's size.)
template <class Number>
ALIDADE_INLINE void find_slope(const AscentStep& step, const Number* image, Number* slope) {
    const Index d = step.features, p = step.dimension, begin = step.centred ? 1 : 0;
    multiply_table(step.root + begin * p, p, 1, p, d - begin,
                   step.triangular ? Filled::from_diagonal : Filled::all, image, slope + begin);
    for (Index i = d; i < padded(d); ++i) slope[i] = Number{};
    if (!step.centred) return;
    Number sum{}, size{};
    for (Index i = begin; i < d; ++i) {
        sum += slope[i];
        size += size_of(slope[i]);
    }
    slope[0] = -sum - (static_cast<double>(4 * d) * 0x1p-53) * size;
}

/// Scores of one successor of every pair: its features times the slope, both in rows, `size` numbers of them,
/// or `fixed` if that is not zero. Numbers behind a row count nothing, as the slope is zero there.
template <Index fixed, class Number>
ALIDADE_INLINE Number scores_of(const double* const* row, Index size, const double* slopes) {
    constexpr Index parts = parts_of_row<Number>, width = width_of<Number>;
    if constexpr (fixed != 0) size = fixed;
    Number sum[at(width)][at(parts)];
    // Unrolled, so that the sums stay in registers.
    ALIDADE_UNROLLED
    for (Index l = 0; l < width; ++l) {
        const double* const slope = slopes + l * size;
        ALIDADE_UNROLLED
        for (Index q = 0; q < parts; ++q)
            sum[l][q] = numbers_from<Number>(row[l] + q * width) * numbers_from<Number>(slope + q * width);
        for (Index first = lanes; first < size; first += lanes) ALIDADE_UNROLLED
        for (Index q = 0; q < parts; ++q)
            sum[l][q] += numbers_from<Number>(row[l] + first + q * width) *
                         numbers_from<Number>(slope + first + q * width);
    }
    return sums_across(sum);
}

/// Scores of all successors above zero are chosen; whether a lane moved.
template <Index fixed, class Number>
ALIDADE_INLINE bool choose(const PairRows& pairs, Index lane, Index d, const double* slopes,
                           double* witness) {
    const Number zero{}, one = all_lanes<Number>(1);
    const Index size = padded(d);
    const double* row[at(width_of<Number>)];
    for (Index l = 0; l < width_of<Number>; ++l) row[l] = pairs.phi[lane + l];
    Number moved{};
    for (Index j = 0; j < pairs.most; ++j) {
        // What is not there has score zero.
        if (j >= pairs.least)
            for (Index l = 0; l < width_of<Number>; ++l)
                if (j >= pairs.successors[lane + l]) row[l] = pairs.nothing;
        const Number score = scores_of<fixed, Number>(row, size, slopes);
        const Number chosen = where_positive<Number>(score, one, zero);
        const Number change = chosen - number_at<Number>(witness + lane, j);
        moved += change * change;
        set_number(witness + lane, j, chosen);
        for (Index l = 0; l < width_of<Number>; ++l) row[l] += d;
    }
    return any_positive(moved);
}

/// V <- 1{psi_j . Lambda^-1 psi_V > 0}: the maximiser of the linearisation. Whether any lane moved.
/// |psi_V| is convex in V, so that V that maximises its linearisation does not lower it: an ascent, which
/// ends at a vertex of [0,1]^m. A lower end of the width, for planning and for regression features;
/// certificates have upper ends [theory §1.3].
template <class Number>
ALIDADE_INLINE bool move_witness(const AscentStep& step, const PairRows& pairs, Index lane,
                                 const AscentScratch<Number>& scratch, double* witness) {
    const Index d = step.features, size = padded(d);
    find_slope(step, scratch.image, scratch.slope);
    lanes_to_rows(scratch.slope, size, scratch.row);
    if (size == lanes) return choose<lanes, Number>(pairs, lane, d, scratch.row, witness);
    if (size == 2 * lanes) return choose<2 * lanes, Number>(pairs, lane, d, scratch.row, witness);
    return choose<0, Number>(pairs, lane, d, scratch.row, witness);
}

/// Ascent of the widths of eight pairs from their witnesses, and the optimistic backup.
struct AscentKernel {
    static Index scratch(Index features, Index dimension) {
        return (5 * padded(features) + dimension) * lanes;
    }

    /// `witness`, [successor][lane], zeros and ones, is moved, and `moved` told so; values[lane] = scale
    /// width + E[next(s')].
    template <class Number>
    ALIDADE_INLINE static void run(const AscentStep& step, const PairRows& pairs, double* witness,
                                   double* scratch, double* values, bool* moved) {
        const Index d = step.features, size = padded(d);
        auto* const numbers = reinterpret_cast<Number*>(scratch + 2 * lanes * size);
        const AscentScratch<Number> given{scratch,        scratch + lanes * size, numbers,
                                          numbers + size, numbers + 2 * size,     numbers + 3 * size};
        const Number zero{};
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            sum_features_of<true>(pairs, l, d, witness, given);
            Number expected{};
            for (Index i = 0; i < d; ++i) expected += step.weights[i] * given.phi_next[i];
            // From the witness of the last policy: metrics change little, and a few steps are enough for it
            // to follow [oracle §C.2]. Most witnesses stay most of the time; lanes that all do are done.
            Number square = square_in_metric(step, given.phi_value, given.image);
            for (int ascent = 0; ascent < step.ascents; ++ascent) {
                if (!move_witness(step, pairs, l, given, witness)) break;
                *moved = true;
                sum_features_of<false>(pairs, l, d, witness, given);
                square = square_in_metric(step, given.phi_value, given.image);
            }
            // The bonus, which is range times radius times width, and P~ E of what follows [paper, Alg. 1
            // lines 10-13].
            set_number(values + l, 0, step.scale * root_of(greater_of(zero, square)) + expected);
        }
    }
};

}  // namespace alidade::detail
