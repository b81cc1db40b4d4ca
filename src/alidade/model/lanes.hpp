#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "alidade/types.hpp"

/// 1 where the compiler has vectors as a type (GCC and clang), whatever the machine; 0 elsewhere, for CUDA,
/// where a thread is a lane, and where ALIDADE_PORTABLE is defined. Then everything is done lane by lane in
/// plain arithmetic, with the same bits.
#if defined(__GNUC__) && !defined(ALIDADE_PORTABLE) && !defined(__CUDACC__)
#define ALIDADE_LANES 1
#else
#define ALIDADE_LANES 0
#endif

/// 1 where wider vectors can be asked for, function by function.
#if ALIDADE_LANES && defined(__x86_64__)
#define ALIDADE_WIDER_LANES 1
#else
#define ALIDADE_WIDER_LANES 0
#endif

/// 1 where kernels name instructions, for what GCC does not do well by itself; the same bits where they do
/// not.
#if ALIDADE_WIDER_LANES && !defined(__clang__)
#define ALIDADE_NAMED_INSTRUCTIONS 1
#else
#define ALIDADE_NAMED_INSTRUCTIONS 0
#endif

/// What works on vectors is part of the function that a set of instructions was chosen for. The vectors never
/// cross a function that is not inlined, so no ABI is at stake. A CUDA compiler reads it for both sides.
#if defined(__CUDACC__)
#define ALIDADE_INLINE __host__ __device__ inline
#else
#define ALIDADE_INLINE [[gnu::always_inline]] inline
#endif
/// Of up to eight turns.
#if defined(__CUDACC__)
#define ALIDADE_UNROLLED _Pragma("unroll")
#else
#define ALIDADE_UNROLLED _Pragma("GCC unroll 8")
#endif
#if ALIDADE_LANES
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace alidade::detail {

/// Pairs are taken so many at a time, a lane a pair. A lane never sees another, and nothing is fused or
/// reordered, so that any width of vectors gives the same bits.
constexpr Index lanes = 8;

/// How many lanes are done at once.
enum class LaneWidth : Index { one = 1, two = 2, four = 4, eight = 8 };

#if ALIDADE_LANES
using TwoLanes [[gnu::vector_size(16)]] = double;
using FourLanes [[gnu::vector_size(32)]] = double;
using EightLanes [[gnu::vector_size(64)]] = double;
#endif

/// What one instruction of this machine does. A vector wider than the registers would live in memory, which
/// is slower than no vector.
inline LaneWidth widest_lanes() {
#if ALIDADE_WIDER_LANES
    static const LaneWidth widest = __builtin_cpu_supports("avx512f") ? LaneWidth::eight
                                    : __builtin_cpu_supports("avx2")  ? LaneWidth::four
                                                                      : LaneWidth::two;
    return widest;
#elif ALIDADE_LANES
    return LaneWidth::two;
#else
    return LaneWidth::one;
#endif
}

/// As many of the eight lanes at a place as `Number` has, double being one. Numbers of a block are `lanes`
/// apart in memory, at any address.
template <class Number>
ALIDADE_INLINE Number number_at(const double* numbers, Index place) {
    Number number;
    std::memcpy(&number, numbers + place * lanes, sizeof number);
    return number;
}

template <class Number>
ALIDADE_INLINE void set_number(double* numbers, Index place, const Number& number) {
    std::memcpy(numbers + place * lanes, &number, sizeof number);
}

/// The first place in scratch memory where a vector may lie; at most eight numbers are lost.
inline double* aligned_lanes(std::span<double> scratch) {
    constexpr std::uintptr_t bytes = lanes * sizeof(double);
    const auto address = reinterpret_cast<std::uintptr_t>(scratch.data());
    return scratch.data() + (bytes - address % bytes) % bytes / sizeof(double);
}

template <class Number>
constexpr Index width_of = sizeof(Number) / sizeof(double);

}  // namespace alidade::detail
