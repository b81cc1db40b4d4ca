#pragma once

#include <algorithm>
#include <cstdint>

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// What a block of eight pairs brings to the widths, and what they are: max over V in {0,1}^m of |sum_j V_j
/// g_j| with g_j = inverse_factor psi_j, which sum to zero.
struct WidthBlock {
    const double* psi = nullptr;      ///< [successor][coordinate][lane]
    Index successors = 0;             ///< m, the same of all lanes that are asked for
    Index dimension = 0;              ///< p
    const double* inverse = nullptr;  ///< p x p, lower, column after column
    double* lower = nullptr;          ///< [lane]: attained by the witness
    double* upper = nullptr;          ///< [lane]: rounded outward
    double* witness = nullptr;        ///< [lane]: the V that attains it, as bits of an integer
    double* strange = nullptr;        ///< [lane]: one where numbers are too small or too large for this
};

/// Room for generators, their products, sums over subsets.
struct WidthRoom {
    double *generators, *products, *squares, *crosses, *high, *chosen, *sums;

    static Index size(Index m, Index p) {
        const Index subsets = Index{1} << (m - 1);
        return (m * p + m * m + subsets + most_crosses(m) + most_high(m) + m + 3 * p) * lanes;
    }
    WidthRoom(double* scratch, Index m, Index p)
        : generators(scratch),
          products(generators + m * p * lanes),
          squares(products + m * m * lanes),
          crosses(squares + (Index{1} << (m - 1)) * lanes),
          high(crosses + most_crosses(m) * lanes),
          chosen(high + most_high(m) * lanes),
          sums(chosen + m * lanes) {}

private:
    static Index most_high(Index m) { return (Index{1} << ((m - 1) / 2)) * (m / 2 + 1); }
    static Index most_crosses(Index m) { return std::max((Index{1} << (m - 1)) / 2, Index{1} << (m / 2)); }
};

/// |sum over V|^2 of one vertex as the sum over its first half plus that over its second, in which order
/// Width::enumerate has it.
template <class Number>
ALIDADE_INLINE Number square_at(const Number* generators, Index free, Index p, const Number* chosen,
                                Number* low, Number* high) {
    const Index half = (free + 1) / 2;
    for (Index i = 0; i < p; ++i) {
        low[i] = high[i] = Number{};
        for (Index j = 0; j < half; ++j) low[i] += chosen[j] * generators[j * p + i];
        for (Index j = half; j < free; ++j) high[i] += chosen[j] * generators[j * p + i];
    }
    Number square{};
    for (Index i = 0; i < p; ++i) square += (low[i] + high[i]) * (low[i] + high[i]);
    return square;
}

/// The largest |sum|^2 over all subsets of the first m-1 generators (the others mirror them), where it is,
/// and whether another comes within a margin of it. It grows by |g_b|^2 + 2 g_b . sum with a generator, and
/// that, too, is had from a smaller subset. A subset is one of the first half of the generators and one of
/// the second: two additions a subset, whatever the dimension, and what is in use fits the nearest memory.
template <class Number>
struct SubsetMaximum {
    Number largest;
    Number place;  ///< the subset, if no other comes near
    Number many;   ///< one where another does

    /// `low` and `crosses` have room for 2^half numbers, `high` for 2^rest (half + 1), `bits` for m.
    ALIDADE_INLINE static SubsetMaximum of(const Number* products, Index m, double margin,
                                           const Number& trace, Number* low, Number* crosses, Number* high,
                                           Number* bits) {
        const Number zero{}, one = all_lanes<Number>(1);
        const Index free = m - 1, half = (free + 1) / 2, rest = free - half, lows = Index{1} << half;
        Number* const twice =
            high + (Index{1} << rest);  // [subset of the second half][generator of the first]
        squares_of(products, m, 0, half, low, crosses);
        squares_of(products, m, half, rest, high, crosses);
        for (Index j = 0; j < half; ++j) twice[j] = zero;
        for (Index k = 0; k < rest; ++k)
            for (Index h = 0; h < (Index{1} << k); ++h)
                for (Index j = 0; j < half; ++j) {
                    const Number product = products[(half + k) * m + j];
                    twice[(h + (Index{1} << k)) * half + j] = twice[h * half + j] + (product + product);
                }
        Number best{}, second = all_lanes<Number>(-1), place{};
        for (Index h = 0; h < (Index{1} << rest); ++h) {
            crosses[0] = high[h];
            Number most = low[0] + crosses[0];
            for (Index j = 0; j < half; ++j)
                for (Index l = 0; l < (Index{1} << j); ++l) {
                    const Index with = l + (Index{1} << j);
                    crosses[with] = crosses[l] + twice[h * half + j];
                    most = greater_of(most, low[with] + crosses[with]);
                }
            const Number better = h == 0 ? one : where_less<Number>(best, most, one, zero);
            second = where_positive<Number>(better, h == 0 ? second : best, greater_of(second, most));
            place = where_positive<Number>(better, all_lanes<Number>(static_cast<double>(h)), place);
            best = where_positive<Number>(better, most, best);
        }
        // The best second half again, lane by lane another one, to see where in it the largest is.
        Number left = place;
        for (Index k = rest - 1; k >= 0; --k) {
            const double power = static_cast<double>(Index{1} << k);
            bits[k] = where_less<Number>(left, all_lanes<Number>(power), zero, one);
            left -= bits[k] * power;
        }
        const Number own = cross_sums(products, m, half, rest, bits, crosses);
        const Number threshold = best - margin * trace;
        Number near{}, where{};
        for (Index l = lows - 1; l >= 0; --l) {
            const Number here = where_less<Number>(low[l] + crosses[l] + own, threshold, zero, one);
            near += here;
            where = where_positive<Number>(here, all_lanes<Number>(static_cast<double>(l)), where);
        }
        const Number others = where_less<Number>(second, threshold, zero, one);
        return {best, place * static_cast<double>(lows) + where,
                where_less<Number>(one, near + others, one, zero)};
    }

    /// Of all subsets of `count` generators from `first` on.
    ALIDADE_INLINE static void squares_of(const Number* products, Index m, Index first, Index count,
                                          Number* squares, Number* crosses) {
        squares[0] = Number{};
        for (Index b = 0; b < count; ++b) {
            const Number* const row = products + (first + b) * m + first;
            crosses[0] = row[b];
            for (Index k = 0; k < b; ++k)
                for (Index s = 0; s < (Index{1} << k); ++s)
                    crosses[s + (Index{1} << k)] = crosses[s] + (row[k] + row[k]);
            for (Index s = 0; s < (Index{1} << b); ++s)
                squares[s + (Index{1} << b)] = squares[s] + crosses[s];
        }
    }

private:
    /// Twice the products of every subset of the first half with one of the second, given by its bits;
    /// returns the square of the second's sum.
    ALIDADE_INLINE static Number cross_sums(const Number* products, Index m, Index half, Index rest,
                                            const Number* bits, Number* crosses) {
        Number own{};
        for (Index k = 0; k < rest; ++k) {
            const Number* const row = products + (half + k) * m;
            Number with{};
            for (Index other = 0; other < k; ++other) with += bits[other] * row[half + other];
            own += bits[k] * (row[half + k] + with + with);
        }
        crosses[0] = Number{};
        for (Index j = 0; j < half; ++j) {
            Number with{};
            for (Index k = 0; k < rest; ++k) with += bits[k] * products[(half + k) * m + j];
            with += with;
            for (Index s = 0; s < (Index{1} << j); ++s) crosses[s + (Index{1} << j)] = crosses[s] + with;
        }
        return own;
    }
};

/// Widths of eight pairs by trying every vertex.
struct WidthKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const WidthBlock& block, double* scratch) {
        const WidthRoom room(scratch, block.successors, block.dimension);
        for (Index l = 0; l < lanes; l += width_of<Number>) run_lanes<Number>(block, room, l);
    }

private:
    template <class Number>
    ALIDADE_INLINE static void whiten(const WidthBlock& block, Index lane, Number* generators) {
        const Index m = block.successors, p = block.dimension;
        for (Index j = 0; j < m; ++j) {
            const double* const psi = block.psi + j * p * lanes + lane;
            for (Index i = 0; i < p; ++i) {
                Number sum{};
                for (Index k = 0; k <= i; ++k) sum += block.inverse[k * p + i] * number_at<Number>(psi, k);
                generators[j * p + i] = sum;
            }
        }
    }

    /// V as numbers 0 and 1, from the bits of an integer in each lane.
    template <class Number>
    ALIDADE_INLINE static void spread(const Number& from, Index free, Number* chosen) {
        const Number zero{}, one = all_lanes<Number>(1);
        Number place = from;
        for (Index j = free - 1; j >= 0; --j) {
            const double power = static_cast<double>(Index{1} << j);
            chosen[j] = where_less<Number>(place, all_lanes<Number>(power), zero, one);
            place -= chosen[j] * power;
        }
    }

    template <class Number>
    ALIDADE_INLINE static void run_lanes(const WidthBlock& block, const WidthRoom& room, Index lane) {
        const Index m = block.successors, p = block.dimension, free = m - 1;
        const Number zero{}, one = all_lanes<Number>(1);
        auto* const generators = reinterpret_cast<Number*>(room.generators);
        auto* const products = reinterpret_cast<Number*>(room.products);
        auto* const squares = reinterpret_cast<Number*>(room.squares);
        auto* const low = reinterpret_cast<Number*>(room.sums);
        whiten(block, lane, generators);
        Number largest{}, trace{}, imbalance{};
        for (Index i = 0; i < m * p; ++i) largest = greater_of(largest, size_of(generators[i]));
        for (Index i = 0; i < p; ++i) {
            Number sum{};
            for (Index j = 0; j < m; ++j) sum += generators[j * p + i];
            imbalance += sum * sum;
        }
        for (Index j = 0; j < m; ++j)
            for (Index k = 0; k <= j; ++k) {
                Number product{};
                for (Index i = 0; i < p; ++i) product += generators[j * p + i] * generators[k * p + i];
                products[j * m + k] = product;
                if (j == k) trace += product;
            }
        // Additions and products are off by 2^-53 of (sum |g_j|)^2 each, which is at most m times the sum of
        // squares: p in a product of two generators, and m in each of two sums.
        const double roundings = 4 * static_cast<double>(p + 3 * m + 8) * 0x1p-53 * static_cast<double>(m);
        auto* const crosses = reinterpret_cast<Number*>(room.crosses);
        auto* const chosen = reinterpret_cast<Number*>(room.chosen);
        const auto found = SubsetMaximum<Number>::of(products, m, roundings, trace, squares, crosses,
                                                     reinterpret_cast<Number*>(room.high), chosen);
        Number place = found.place, best{};
        spread(place, free, chosen);
        best = square_at(generators, free, p, chosen, low, low + p);
        // Those that come near are judged by the sums themselves, as if all had been; one is the rule.
        const Number many = where_positive<Number>(largest, found.many, zero);
        if (any_positive(many)) {
            const Number threshold = found.largest - roundings * trace;
            SubsetMaximum<Number>::squares_of(products, m, 0, free, squares, crosses);
            best = where_positive<Number>(many, all_lanes<Number>(-1), best);
            for (Index s = 0; s < (Index{1} << free); ++s) {
                const Number candidate = where_less<Number>(squares[s], threshold, zero, one);
                if (!any_positive(candidate * many)) continue;
                const Number here = all_lanes<Number>(static_cast<double>(s));
                spread(here, free, chosen);
                const Number square = square_at(generators, free, p, chosen, low, low + p);
                // The first of those that attain the maximum: they come in their order.
                const Number better = candidate * many * where_less<Number>(best, square, one, zero);
                place = where_positive<Number>(better, here, place);
                best = where_positive<Number>(better, square, best);
            }
        }
        finish(block, lane, largest, place, root_of(best), root_of(imbalance));
    }

    template <class Number>
    ALIDADE_INLINE static void finish(const WidthBlock& block, Index lane, const Number& largest,
                                      const Number& place, const Number& lower, const Number& imbalance) {
        const Number zero{}, one = all_lanes<Number>(1);
        // Tangent features sum to zero up to the rounding of the base models, which is not small next to base
        // models that nearly agree; |V| and |1-V| differ by at most this. The vertex found is the maximiser
        // up to the rounding of norms compared with each other.
        const Number upper = (lower + imbalance) * (1 + 1e-12);
        set_number(block.lower + lane, 0, where_positive<Number>(largest, lower, zero));
        set_number(block.upper + lane, 0, where_positive<Number>(largest, upper, zero));
        set_number(block.witness + lane, 0, where_positive<Number>(largest, place, zero));
        const Number small = where_less<Number>(all_lanes<Number>(1e-100), largest, zero, one);
        const Number ordinary = where_less<Number>(largest, all_lanes<Number>(1e100), zero, one);
        set_number(block.strange + lane, 0,
                   where_positive<Number>(largest, small + ordinary, largest == zero ? zero : one));
    }
};

}  // namespace alidade::detail
