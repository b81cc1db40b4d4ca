#pragma once

#include <cstring>

#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

// Rows of as many numbers as a vector has, as many rows, turned into lanes, and back.

/// As many numbers as a vector has, from anywhere.
template <class Number>
ALIDADE_INLINE Number numbers_from(const double* place) {
    Number numbers;
    std::memcpy(&numbers, place, sizeof numbers);
    return numbers;
}

template <class Number>
ALIDADE_INLINE void numbers_to(double* place, const Number& numbers) {
    std::memcpy(place, &numbers, sizeof numbers);
}

/// Read once, though used twice: a compiler would have every product read its own, and what lies across two
/// lines of a cache is read slowly.
template <class Number>
ALIDADE_INLINE void keep_in_register([[maybe_unused]] Number& numbers) {
#if ALIDADE_NAMED_INSTRUCTIONS
    asm("" : "+x"(numbers));
#endif
}

/// row[r][k] becomes row[k][r].
ALIDADE_INLINE void transpose(double*) {}

/// For each of the rows, of eight numbers x in 8/width parts, ((x0+x1)+(x2+x3))+((x4+x5)+(x6+x7)): a sum a
/// lane. The order is that of any width.
ALIDADE_INLINE double sums_across(const double (&row)[1][lanes]) {
    const double* const x = row[0];
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

#if ALIDADE_LANES
ALIDADE_INLINE void transpose(TwoLanes* row) {
    const TwoLanes first = row[0];
    row[0] = __builtin_shufflevector(first, row[1], 0, 2);
    row[1] = __builtin_shufflevector(first, row[1], 1, 3);
}
ALIDADE_INLINE void transpose(FourLanes* row) {
    FourLanes two[4];
    for (Index r = 0; r < 4; r += 2) {
        two[r] = __builtin_shufflevector(row[r], row[r + 1], 0, 4, 2, 6);
        two[r + 1] = __builtin_shufflevector(row[r], row[r + 1], 1, 5, 3, 7);
    }
    for (Index k = 0; k < 2; ++k) {
        row[k] = __builtin_shufflevector(two[k], two[k + 2], 0, 1, 4, 5);
        row[k + 2] = __builtin_shufflevector(two[k], two[k + 2], 2, 3, 6, 7);
    }
}
/// In three rounds: neighbours, pairs, halves.
ALIDADE_INLINE void transpose(EightLanes* row) {
    EightLanes two[8], four[8];
    for (Index r = 0; r < 8; r += 2) {
        two[r] = __builtin_shufflevector(row[r], row[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        two[r + 1] = __builtin_shufflevector(row[r], row[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (Index r = 0; r < 8; r += 4)
        for (Index k = 0; k < 2; ++k) {
            four[r + k] = __builtin_shufflevector(two[r + k], two[r + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            four[r + k + 2] = __builtin_shufflevector(two[r + k], two[r + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (Index k = 0; k < 4; ++k) {
        row[k] = __builtin_shufflevector(four[k], four[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        row[k + 4] = __builtin_shufflevector(four[k], four[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

ALIDADE_INLINE TwoLanes sums_across(const TwoLanes (&row)[2][4]) {
    TwoLanes two[4];
    for (Index q = 0; q < 4; ++q)
        two[q] = __builtin_shufflevector(row[0][q], row[1][q], 0, 2) +
                 __builtin_shufflevector(row[0][q], row[1][q], 1, 3);
    return (two[0] + two[1]) + (two[2] + two[3]);
}
ALIDADE_INLINE FourLanes sums_across(const FourLanes (&row)[4][2]) {
    FourLanes half[2];
    for (Index q = 0; q < 2; ++q) {
        FourLanes two[2];
        for (Index r = 0; r < 2; ++r) {
            const FourLanes &a = row[2 * r][q], &b = row[2 * r + 1][q];
            two[r] = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
        }
        half[q] = __builtin_shufflevector(two[0], two[1], 0, 1, 4, 5) +
                  __builtin_shufflevector(two[0], two[1], 2, 3, 6, 7);
    }
    return half[0] + half[1];
}
ALIDADE_INLINE EightLanes sums_across(const EightLanes (&row)[8][1]) {
    EightLanes two[4], four[2];
    for (Index r = 0; r < 4; ++r) {
        const EightLanes &a = row[2 * r][0], &b = row[2 * r + 1][0];
        two[r] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (Index r = 0; r < 2; ++r) {
        const EightLanes &a = two[2 * r], &b = two[2 * r + 1];
        four[r] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                  __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
           __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}
#endif

}  // namespace alidade::detail
