#include "alidade/model/lane_math.hpp"

#include <gtest/gtest.h>

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
