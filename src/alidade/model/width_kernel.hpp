#pragma once

#include <cstdint>

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lane_tiles.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// What a block of eight pairs brings to the widths, and what they are: max over V in {0,1}^m of |sum_j V_j g_j|
/// with g_j = inverse_factor psi_j, which sum to zero.
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
    double *generators, *products, *squares, *crosses, *sums;

    static Index size(Index m, Index p) {
        const Index subsets = Index{1} << (m - 1);
        return (m * p + m * m + subsets + (subsets + 1) / 2 + 3 * p) * lanes;
    }
    WidthRoom(double* scratch, Index m, Index p)
        : generators(scratch),
          products(generators + m * p * lanes),
          squares(products + m * m * lanes),
          crosses(squares + (Index{1} << (m - 1)) * lanes),
          sums(crosses + ((Index{1} << (m - 1)) + 1) / 2 * lanes) {}
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

/// All subsets of the first m-1 generators (the others mirror them): |sum|^2 grows by
/// |g_b|^2 + 2 g_b . sum with a generator, and that, too, is had from a smaller subset. Two additions a subset,
/// whatever the dimension. The largest, and its place if no other comes near.
template <class Number>
struct SubsetMaximum {
    Number largest;
    Number place;  ///< the first subset within the margin of it
    Number near;   ///< how many are

    ALIDADE_INLINE static SubsetMaximum of(const Number* products, Index m, const Number& margin,
                                           Number* squares, Number* crosses) {
        const Index free = m - 1;
        squares[0] = Number{};
        for (Index b = 0; b < free; ++b) {
            crosses[0] = products[b * m + b];
            for (Index k = 0; k < b; ++k) {
                const Number twice = products[b * m + k] + products[b * m + k];
                for (Index s = 0; s < (Index{1} << k); ++s) crosses[s + (Index{1} << k)] = crosses[s] + twice;
            }
            for (Index s = 0; s < (Index{1} << b); ++s) squares[s + (Index{1} << b)] = squares[s] + crosses[s];
        }
        const Index subsets = Index{1} << free;
        SubsetMaximum result{squares[0], {}, {}};
        for (Index s = 1; s < subsets; ++s) result.largest = greater_of(result.largest, squares[s]);
        const Number threshold = result.largest - margin, one = all_lanes<Number>(1), zero{};
        for (Index s = subsets - 1; s >= 0; --s) {
            const Number here = squares[s] < threshold ? zero : one;
            result.near += here;
            result.place = here > zero ? all_lanes<Number>(static_cast<double>(s)) : result.place;
        }
        return result;
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
            chosen[j] = place < all_lanes<Number>(power) ? zero : one;
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
        const auto found = SubsetMaximum<Number>::of(products, m, roundings * trace, squares,
                                                     reinterpret_cast<Number*>(room.crosses));
        // Those that come near are judged by the sums themselves, as if all had been; one is the rule.
        auto* const chosen = reinterpret_cast<Number*>(room.crosses);
        Number place = found.place, best{};
        spread(place, free, chosen);
        best = square_at(generators, free, p, chosen, low, low + p);
        const Number many = largest > zero ? (found.near > one ? one : zero) : zero;
        if (any_of(many > zero)) {
            const Number threshold = found.largest - roundings * trace;
            for (Index s = 0; s < (Index{1} << free); ++s) {
                const Number candidate = squares[s] < threshold ? zero : one;
                if (!any_of(candidate * many > zero)) continue;
                const Number here = all_lanes<Number>(static_cast<double>(s));
                spread(here, free, chosen);
                const Number square = square_at(generators, free, p, chosen, low, low + p);
                // The first of those that attain the maximum: they come in their order.
                const Number better = candidate * many * (square > best ? one : zero);
                place = better > zero ? here : place;
                best = better > zero ? square : best;
            }
        }
        finish(block, lane, largest, place, root_of(best), root_of(imbalance));
    }

    template <class Number>
    ALIDADE_INLINE static void finish(const WidthBlock& block, Index lane, const Number& largest,
                                      const Number& place, const Number& lower, const Number& imbalance) {
        const Number zero{}, one = all_lanes<Number>(1);
        // Tangent features sum to zero up to the rounding of the base models, which is not small next to base
        // models that nearly agree; |V| and |1-V| differ by at most this. The vertex found is the maximiser up
        // to the rounding of norms compared with each other.
        const Number upper = (lower + imbalance) * (1 + 1e-12);
        set_number(block.lower + lane, 0, largest > zero ? lower : zero);
        set_number(block.upper + lane, 0, largest > zero ? upper : zero);
        set_number(block.witness + lane, 0, largest > zero ? place : zero);
        const Number small = largest > all_lanes<Number>(1e-100) ? zero : one;
        const Number ordinary = largest < all_lanes<Number>(1e100) ? zero : one;
        set_number(block.strange + lane, 0, largest > zero ? small + ordinary : (largest == zero ? zero : one));
    }
};

}  // namespace alidade::detail
