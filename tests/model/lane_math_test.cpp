#include "alidade/model/lane_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "alidade/model/eigenvalue_kernel.hpp"
#include "alidade/model/fixed_point.hpp"
#include "alidade/model/lane_dispatch.hpp"
#include "alidade/model/spectrum.hpp"
#include "alidade/random/samplers.hpp"
#include "support/lane_widths.hpp"
#include "support/random_models.hpp"

namespace alidade::lane_math_test {
namespace {

/// ln of eight numbers.
struct LogarithmKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const double* x, double* y) {
        for (Index l = 0; l < detail::lanes; l += detail::width_of<Number>)
            detail::set_number(y + l, 0, detail::logarithm(detail::number_at<Number>(x + l, 0)));
    }
};
using LogarithmByLanes = detail::ByLanes<LogarithmKernel, const double*, double*>;

// Within a few units of the last place of the C library's, over all normal numbers, near one and far from it;
// and the same bits by all vectors.
TEST(LaneMath, LogarithmIsThatOfTheLibrary) {
    Stream random = support::test_stream(1, 41);
    std::vector<double> numbers{1.0,
                                2.0,
                                0.5,
                                std::sqrt(0.5),
                                std::sqrt(2.0),
                                std::nextafter(1.0, 0.0),
                                std::nextafter(1.0, 2.0),
                                std::numeric_limits<double>::min(),
                                std::numeric_limits<double>::max(),
                                1e-300,
                                1e300,
                                0.7071067811865475};
    while (numbers.size() < 4096) {
        const double uniform = sample_uniform(random);
        numbers.push_back(numbers.size() % 2 == 0 ? std::exp(1400 * uniform - 700)
                                                  : 1 + (uniform - 0.5) * 1e-3);
    }
    for (std::size_t first = 0; first + 8 <= numbers.size(); first += 8) {
        double plain[8];
        LogarithmByLanes::of(detail::LaneWidth::one)(numbers.data() + first, plain);
        for (std::size_t l = 0; l < 8; ++l) {
            const double exact = std::log(numbers[first + l]);
            EXPECT_NEAR(plain[l], exact, 8e-16 * std::abs(exact)) << numbers[first + l];
        }
        for (const detail::LaneWidth width : support::lane_widths()) {
            double found[8];
            LogarithmByLanes::of(width)(numbers.data() + first, found);
            for (std::size_t l = 0; l < 8; ++l) EXPECT_EQ(found[l], plain[l]);
        }
    }
}

/// What is chosen by comparisons of eight pairs of numbers, seven answers each.
struct ChoiceKernel {
    static constexpr Index answers = 7;
    template <class Number>
    ALIDADE_INLINE static void run(const double* x, const double* y, double* found) {
        for (Index l = 0; l < detail::lanes; l += detail::width_of<Number>) {
            const auto a = detail::number_at<Number>(x + l, 0), b = detail::number_at<Number>(y + l, 0);
            const auto one = detail::all_lanes<Number>(1), two = detail::all_lanes<Number>(2);
            detail::set_number(found + l, 0, detail::where_less<Number>(a, b, one, two));
            detail::set_number(found + l, 1, detail::where_positive<Number>(a, b, two));
            detail::set_number(found + l, 2, detail::greater_of(a, b));
            detail::set_number(found + l, 3, detail::lesser_of(a, b));
            detail::set_number(found + l, 4, detail::size_of(a));
            detail::set_number(found + l, 5, detail::root_of(a));
            const double any = detail::any_positive(a) ? 1.0 : 0.0;
            detail::set_number(found + l, 6, detail::all_lanes<Number>(any));
        }
    }
};
using ChoiceByLanes = detail::ByLanes<ChoiceKernel, const double*, const double*, double*>;

// Vectors choose as the language does, for zeros of both signs, infinities and what is not a number, too: bit
// for bit.
TEST(LaneMath, ChoicesAreThoseOfPlainComparisons) {
    const double none = std::numeric_limits<double>::quiet_NaN(),
                 no_bound = std::numeric_limits<double>::infinity();
    const std::vector<double> numbers{0.0,    -0.0,    1.0,      -1.0,      2.5, -1e300,
                                      5e-324, -5e-324, no_bound, -no_bound, none};
    const auto same = [](double x, double y) {
        return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
    };
    for (const detail::LaneWidth width : support::lane_widths())
        for (const double b : numbers)
            for (std::size_t turn = 0; turn < numbers.size(); ++turn) {
                double x[8], y[8], found[8 * ChoiceKernel::answers];
                for (std::size_t l = 0; l < 8; ++l) {
                    x[l] = numbers[(turn + l) % numbers.size()];
                    y[l] = b;
                }
                ChoiceByLanes::of(width)(x, y, found);
                const auto lanes_at_once = static_cast<std::size_t>(width);
                for (std::size_t l = 0; l < 8; ++l) {
                    const double a = x[l];
                    EXPECT_EQ(found[l], a < b ? 1.0 : 2.0) << a << " and " << b;
                    EXPECT_TRUE(same(found[8 + l], a > 0 ? b : 2.0)) << a << " and " << b;
                    EXPECT_TRUE(same(found[16 + l], std::max(a, b))) << a << " and " << b;
                    EXPECT_TRUE(same(found[24 + l], std::min(a, b))) << a << " and " << b;
                    EXPECT_TRUE(same(found[32 + l], a < 0 ? -a : a)) << a;
                    EXPECT_TRUE(same(found[40 + l], std::sqrt(a)) || a < 0) << a;
                    const std::size_t first = l / lanes_at_once * lanes_at_once;
                    const bool any =
                        std::any_of(x + first, x + first + lanes_at_once, [](double n) { return n > 0; });
                    EXPECT_EQ(found[48 + l], any ? 1.0 : 0.0);
                }
            }
}

/// The largest eigenvalues of eight matrices, p x p, lane by lane.
struct EigenvalueKernel {
    template <class Number>
    ALIDADE_INLINE static void run(Index p, double* matrices, double* scratch, double* values) {
        auto* const own = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < detail::lanes; l += detail::width_of<Number>) {
            for (Index i = 0; i < p * p; ++i) own[i] = detail::number_at<Number>(matrices + l, i);
            detail::set_number(values + l, 0, detail::largest_eigenvalue_above(own, p, own + p * p));
        }
    }
};
using EigenvaluesByLanes = detail::ByLanes<EigenvalueKernel, Index, double*, double*, double*>;

// Eight different matrices at once, of which some have converged before others: never below the spectrum's by
// more than rounding, no farther above, and the same bits by all vectors.
TEST(LaneMath, EigenvaluesFromAboveAreThoseOfTheSpectrum) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 42);
        const Index p = 1 + static_cast<Index>(seed % 12);
        std::vector<double> matrices(at(p * p * detail::lanes)),
            memory(at((p * p + 3 * p + 1) * detail::lanes));
        std::vector<double> exact;
        for (Index l = 0; l < detail::lanes; ++l) {
            Matrix gram = Matrix::Zero(p, p);
            const Index rank = l == 7 ? 0 : 1 + sample_index(random, 12);
            for (Index j = 0; j < rank; ++j) {
                Vector x(p);
                for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
                gram += std::pow(l % 2 == 0 ? 1.0 : 1e-5, static_cast<double>(j)) * x * x.transpose();
            }
            if (l == 6) gram = 3 * Matrix::Identity(p, p);
            exact.push_back(detail::spectrum_of(gram).values.maxCoeff());
            for (Index i = 0; i < p * p; ++i) matrices[at(i * detail::lanes + l)] = gram.data()[i];
        }
        double plain[8];
        EigenvaluesByLanes::of(detail::LaneWidth::one)(p, matrices.data(), detail::aligned_lanes(memory),
                                                       plain);
        for (std::size_t l = 0; l < 8; ++l) {
            EXPECT_GE(plain[l], exact[l] * (1 - 1e-13)) << seed << " lane " << l;
            EXPECT_LE(plain[l], exact[l] * (1 + 1e-12) + 1e-300) << seed << " lane " << l;
        }
        for (const detail::LaneWidth width : support::lane_widths()) {
            double found[8];
            EigenvaluesByLanes::of(width)(p, matrices.data(), detail::aligned_lanes(memory), found);
            for (std::size_t l = 0; l < 8; ++l) EXPECT_EQ(found[l], plain[l]) << seed << " lane " << l;
        }
    }
}

// Sums below one of multiples of 2^-64 are exact in integers of 64 bits: never below, at most 2^-63 a number
// above, and the same bits in any order.
TEST(FixedPoint, SumsAreNeverBelowTheExactOnesAndKnowNoOrder) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 43);
        std::vector<double> numbers;
        std::uint64_t exact = 0;
        for (int i = 0; i < 1000; ++i) {
            const double scale = std::ldexp(1.0, -10 - static_cast<int>(sample_index(random, 40)));
            const double units = std::floor(std::ldexp(sample_uniform(random) * scale, 64));
            numbers.push_back(std::ldexp(units, -64));
            exact += static_cast<std::uint64_t>(units);
        }
        detail::FixedPointSum forwards, backwards;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            forwards.add(numbers[i]);
            backwards.add(numbers[numbers.size() - 1 - i]);
        }
        EXPECT_EQ(forwards, backwards);
        const long double sum = static_cast<long double>(exact) * 0x1p-64L;
        EXPECT_GE(static_cast<long double>(forwards.upper()), sum) << seed;
        EXPECT_LE(static_cast<long double>(forwards.upper()), sum * (1 + 1e-14L) + 1000 * 0x1p-63L) << seed;
    }
}

}  // namespace
}  // namespace alidade::lane_math_test
