#pragma once

#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// Householder's reduction of a symmetric matrix, whose lower triangle is read and overwritten, to its
/// diagonal and the squares of what is beside it. `image` has p numbers.
template <class Number>
ALIDADE_INLINE void reduce_to_tridiagonal(Number* a, Index p, Number* image, Number* diagonal,
                                          Number* beside) {
    const Number zero{}, one = all_lanes<Number>(1);
    for (Index k = 0; k + 2 < p; ++k) {
        Number* const v = a + k * p;  // from k+1 on; becomes the reflection's vector
        Number rest{};
        for (Index i = k + 2; i < p; ++i) rest += v[i] * v[i];
        const Number head = v[k + 1], square = head * head + rest;
        beside[k] = square;
        // x - alpha e_1, alpha of the sign that does not cancel. Where nothing is left to reflect, the
        // reflection is by nothing.
        const Number length = root_of(square);
        v[k + 1] = where_positive<Number>(head, head + length, head - length);
        const Number norm = v[k + 1] * v[k + 1] + rest;
        const Number scale =
            where_positive<Number>(rest, 2.0 / where_positive<Number>(norm, norm, one), zero);
        // w = scale A v - (scale^2 v' A v / 2) v; then A - v w' - w v'.
        for (Index i = k + 1; i < p; ++i) image[i] = zero;
        for (Index j = k + 1; j < p; ++j) {
            const Number* const column = a + j * p;
            Number along = image[j] + column[j] * v[j];
            for (Index i = j + 1; i < p; ++i) {
                image[i] += column[i] * v[j];
                along += column[i] * v[i];
            }
            image[j] = along;
        }
        Number along{};
        for (Index i = k + 1; i < p; ++i) along += v[i] * image[i];
        along *= scale * scale * 0.5;
        for (Index i = k + 1; i < p; ++i) image[i] = scale * image[i] - along * v[i];
        for (Index j = k + 1; j < p; ++j)
            for (Index i = j; i < p; ++i) a[j * p + i] -= v[i] * image[j] + image[i] * v[j];
    }
    beside[p - 2] = a[(p - 2) * p + p - 1] * a[(p - 2) * p + p - 1];
    for (Index k = 0; k < p; ++k) diagonal[k] = a[k * p + k];
}

/// sum 1/(x - lambda_i) and sum 1/(x - lambda_i)^2 of a tridiagonal matrix, from the pivots of x - T and
/// their derivatives; one where all pivots are positive, so that x is above all eigenvalues, zero elsewhere.
template <class Number>
ALIDADE_INLINE Number resolvent_of(const Number* diagonal, const Number* beside, Index p, const Number& x,
                                   Number& first, Number& second) {
    const Number zero{}, one = all_lanes<Number>(1);
    Number inverse = one, slope{}, bend{}, above = one;  // of the pivot before
    first = second = zero;
    for (Index k = 0; k < p; ++k) {
        const Number weight = k == 0 ? zero : beside[k - 1] * inverse, before = slope * inverse;
        bend = weight * (bend * inverse - 2.0 * before * before);
        slope = one + weight * before;
        const Number pivot = x - diagonal[k] - weight;
        const Number positive = where_positive<Number>(pivot, one, zero);
        above *= positive;
        inverse = one / where_positive<Number>(pivot, pivot, one);
        const Number share = slope * inverse;
        first += share;
        second += share * share - bend * inverse;
    }
    return above;
}

/// An upper end of the largest eigenvalue of a symmetric matrix without negative ones, p >= 1, of ordinary
/// scale; the matrix is overwritten. Laguerre's iteration from above: where all roots are real it falls to
/// the largest one and never passes it. The last point at which all pivots were positive is returned, which
/// proves that x - T has no negative eigenvalue. `room` has 3p numbers.
template <class Number>
ALIDADE_INLINE Number largest_eigenvalue_above(Number* matrix, Index p, Number* room) {
    const Number zero{}, one = all_lanes<Number>(1);
    if (p == 1) return matrix[0];
    Number trace{}, square{};
    for (Index k = 0; k < p; ++k) {
        trace += matrix[k * p + k];
        square += matrix[k * p + k] * matrix[k * p + k];
        for (Index i = k + 1; i < p; ++i) square += 2.0 * matrix[k * p + i] * matrix[k * p + i];
    }
    const Number norm = root_of(square);
    if (p == 2) {
        const Number half = 0.5 * (matrix[0] - matrix[3]);
        return 0.5 * (matrix[0] + matrix[3]) + root_of(half * half + matrix[1] * matrix[1]);
    }
    Number *const diagonal = room, *const beside = room + p;
    reduce_to_tridiagonal(matrix, p, room + 2 * p, diagonal, beside);
    const auto n = static_cast<double>(p);
    // All eigenvalues are below the trace, as none is negative, and below the root of the sum of squares.
    Number x = lesser_of(trace, norm) * (1 + 1e-14), first{}, second{};
    // What rounding took away from the bound is not worth more than a try.
    const Number begun = resolvent_of(diagonal, beside, p, x, first, second);
    Number active = begun;
    for (int step = 0; step < 60 && any_positive(active); ++step) {
        const Number root = root_of(greater_of(zero, (n - 1) * (n * second - first * first)));
        const Number sum = first + root;
        const Number next = x - n / where_positive<Number>(sum, sum, one), floor = x * (1 - 1e-14);
        active *= where_less<Number>(next, floor, one, zero);
        Number tried = next, off = 1e-15 * x, found_first{}, found_second{};
        Number passed = resolvent_of(diagonal, beside, p, tried, found_first, found_second);
        // It may have come to the eigenvalue itself, as it does at once of two, or rounding has led it a
        // little below: on from the nearest point above that passes.
        for (int attempt = 0; attempt < 40; ++attempt) {
            const Number failed = active * (one - passed) * where_less<Number>(tried, x, one, zero);
            if (!any_positive(failed)) break;
            tried = where_positive<Number>(failed, next + off, tried);
            off *= 4.0;
            passed = resolvent_of(diagonal, beside, p, tried, found_first, found_second);
        }
        active *= passed * where_less<Number>(tried, floor, one, zero);
        x = where_positive<Number>(active, tried, x);
        first = where_positive<Number>(active, found_first, first);
        second = where_positive<Number>(active, found_second, second);
    }
    return where_positive<Number>(begun, x, norm * (1 + 1e-12));
}

}  // namespace alidade::detail
