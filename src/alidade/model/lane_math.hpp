#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

// Functions of one number or of several lanes at once, by + - * / and roots alone: these are rounded
// correctly on every machine, so that any width of vectors gives the same bits.

/// As std::max and std::min have them.
template <class Number>
ALIDADE_INLINE Number greater_of(const Number& a, const Number& b) {
    return a < b ? b : a;
}
template <class Number>
ALIDADE_INLINE Number lesser_of(const Number& a, const Number& b) {
    return b < a ? b : a;
}

template <class Number>
ALIDADE_INLINE Number size_of(const Number& x) {
    const Number zero{};
    return x < zero ? -x : x;
}

/// The same number in all lanes.
template <class Number>
ALIDADE_INLINE Number all_lanes(double x) {
    return Number{} + x;
}

ALIDADE_INLINE double root_of(double square) {
    return std::sqrt(square);
}
template <class Number>
ALIDADE_INLINE Number root_of(const Number& square) {
    Number root;
    for (Index l = 0; l < width_of<Number>; ++l) root[l] = std::sqrt(square[l]);
    return root;
}

/// Of a comparison, or of several lanes' comparisons.
ALIDADE_INLINE bool any_of(bool truth) {
    return truth;
}
template <class Truth>
ALIDADE_INLINE bool any_of(const Truth& truth) {
    std::int64_t together = 0;
    for (std::size_t l = 0; l < sizeof(Truth) / sizeof(std::int64_t); ++l) together |= truth[l];
    return together != 0;
}

template <class To, class From>
ALIDADE_INLINE To bits_of(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

/// The integers that have as many lanes.
template <class Number>
struct LaneIntegers {
    using type = decltype(Number{} < Number{});
};
template <>
struct LaneIntegers<double> {
    using type = std::int64_t;
};

/// 2 atanh(s) = ln((1+s)/(1-s)) for |s| <= 0.172, by its series: what is left out is below 2e-19 of it.
template <class Number>
ALIDADE_INLINE Number twice_artanh(const Number& s) {
    const Number z = s * s;
    Number sum = all_lanes<Number>(2.0 / 21);
    for (int odd = 19; odd >= 1; odd -= 2) sum = sum * z + 2.0 / odd;
    return s * sum;
}

/// ln x for normal x > 0, within a few units of the last place.
template <class Number>
ALIDADE_INLINE Number logarithm(const Number& x) {
    using Integer = typename LaneIntegers<Number>::type;
    // x = 2^k y with y from sqrt(1/2) to sqrt(2), by the bits of x.
    constexpr std::int64_t half_root = 0x3fe6a09e667f3bcd;
    const Integer bits = bits_of<Integer>(x), power = (bits - half_root) >> 52;
    const Number y = bits_of<Number>(bits - (power << 52));
    // Adding 1.5 * 2^52 writes an integer into the last bits of a number.
    constexpr double writer = 6755399441055744.0;
    const Number k = bits_of<Number>(power + std::bit_cast<std::int64_t>(writer)) - writer;
    // ln 2 in two parts, the first of which times k is exact.
    constexpr double first = 0x1.62e42fefa38p-1, second = 0x1.ef35793c7673p-45;
    const Number off = y - 1.0;
    return k * first + (twice_artanh(off / (off + 2.0)) + k * second);
}

}  // namespace alidade::detail
