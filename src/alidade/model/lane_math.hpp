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

/// a < b ? x : y, lane by lane. Of eight lanes by the instructions themselves: GCC 12 joins comparisons of
/// vectors, or moves them out of loops, and takes what it has no instruction for then apart, lane by lane,
/// and with it all that is chosen by it.
template <class Number>
ALIDADE_INLINE Number where_less(const Number& a, const Number& b, const Number& x, const Number& y) {
#if ALIDADE_NAMED_INSTRUCTIONS
    if constexpr (width_of<Number> == 8) {
        Number chosen;
        std::uint16_t less;
        asm("vcmppd $17, %[b], %[a], %[less]\n\tvblendmpd %[x], %[y], %[chosen]%{%[less]%}"
            : [less] "=&Yk"(less), [chosen] "=v"(chosen)
            : [a] "v"(a), [b] "v"(b), [x] "v"(x), [y] "v"(y));
        return chosen;
    } else
#endif
        return a < b ? x : y;
}

/// c > 0 ? x : y.
template <class Number>
ALIDADE_INLINE Number where_positive(const Number& c, const Number& x, const Number& y) {
    return where_less<Number>(Number{}, c, x, y);
}

/// Whether a number, or one of several lanes, is above zero.
template <class Number>
ALIDADE_INLINE bool any_positive(const Number& x) {
    const Number zero{};
    if constexpr (width_of<Number> == 1) {
        return x > zero;
    } else {
#if ALIDADE_NAMED_INSTRUCTIONS
        if constexpr (width_of<Number> == 8) {
            std::uint16_t positive;
            asm("vcmppd $17, %[x], %[zero], %[positive]"
                : [positive] "=Yk"(positive)
                : [x] "v"(x), [zero] "v"(zero));
            return positive != 0;
        }
#endif
        const auto positive = x > zero;
        std::int64_t together = 0;
        for (Index l = 0; l < width_of<Number>; ++l) together |= positive[l];
        return together != 0;
    }
}

/// As std::max and std::min have them, which is how the instructions of eight lanes take their two arguments.
template <class Number>
ALIDADE_INLINE Number greater_of(const Number& a, const Number& b) {
#if ALIDADE_NAMED_INSTRUCTIONS
    if constexpr (width_of<Number> == 8) {
        Number greater;
        asm("vmaxpd %[a], %[b], %[greater]" : [greater] "=v"(greater) : [a] "v"(a), [b] "v"(b));
        return greater;
    } else
#endif
        return a < b ? b : a;
}
template <class Number>
ALIDADE_INLINE Number lesser_of(const Number& a, const Number& b) {
#if ALIDADE_NAMED_INSTRUCTIONS
    if constexpr (width_of<Number> == 8) {
        Number lesser;
        asm("vminpd %[a], %[b], %[lesser]" : [lesser] "=v"(lesser) : [a] "v"(a), [b] "v"(b));
        return lesser;
    } else
#endif
        return b < a ? b : a;
}

template <class Number>
ALIDADE_INLINE Number size_of(const Number& x) {
    const Number zero{};
    return where_less<Number>(x, zero, -x, x);
}

/// The same number in all lanes.
template <class Number>
ALIDADE_INLINE Number all_lanes(double x) {
    return Number{} + x;
}

ALIDADE_INLINE double root_of(double square) {
    return std::sqrt(square);
}
/// A loop over lanes is left a loop here and there.
template <class Number>
ALIDADE_INLINE Number root_of(const Number& square) {
    Number root;
#if ALIDADE_NAMED_INSTRUCTIONS
    if constexpr (width_of<Number> == 2)
        asm("sqrtpd %1, %0" : "=x"(root) : "x"(square));
    else
        asm("vsqrtpd %1, %0" : "=v"(root) : "v"(square));
#else
    for (Index l = 0; l < width_of<Number>; ++l) root[l] = std::sqrt(square[l]);
#endif
    return root;
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
