#include "alidade/theory/radii.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

namespace alidade::likelihood_test {
namespace {

/// Regret of the Dirichlet(1/2) mixture when model i explains its n_i observations alone, from the
/// definition.
double regret_of(const std::vector<int>& counts) {
    const auto d = static_cast<double>(counts.size());
    double total = 0, best = 0, mixture = std::lgamma(d / 2);
    for (const int n : counts) {
        total += n;
        mixture += std::lgamma(n + 0.5) - std::lgamma(0.5);
    }
    mixture -= std::lgamma(total + d / 2);
    for (const int n : counts)
        if (n > 0) best += n * std::log(n / total);
    return best - mixture;
}

// [likelihood §2]: the closed form is the worst case over all counts, and one vertex attains it.
TEST(MixtureRegret, IsTheWorstCaseOverAllCounts) {
    for (Index d = 2; d <= 4; ++d)
        for (int t = 1; t <= 12; ++t) {
            double worst = -1e9;
            std::vector<int> counts(static_cast<std::size_t>(d), 0);
            const std::function<void(std::size_t, int)> fill = [&](std::size_t i, int left) {
                if (i + 1 == counts.size()) {
                    counts[i] = left;
                    worst = std::max(worst, regret_of(counts));
                    return;
                }
                for (int n = 0; n <= left; ++n) {
                    counts[i] = n;
                    fill(i + 1, left - n);
                }
            };
            fill(0, t);
            EXPECT_NEAR(detail::mixture_regret(t, d), worst, 1e-10) << "d " << d << ", t " << t;
        }
    EXPECT_NEAR(detail::mixture_regret(0, 5), 0, 1e-11);
    EXPECT_EQ(detail::mixture_regret(100, 1), 0);
}

// Cover and Ordentlich (1996): at most ln 2 + (d-1)/2 ln(t+1).
TEST(MixtureRegret, IsAtMostThatOfCoverAndOrdentlich) {
    for (Index d = 2; d <= 20; ++d)
        for (double t = 1; t < 1e12; t *= 7)
            EXPECT_LE(detail::mixture_regret(t, d),
                      std::log(2.0) + 0.5 * static_cast<double>(d - 1) * std::log(t + 1) + 1e-9);
}

// Half steps of the logarithm of the gamma function, where its differences cancel.
TEST(MixtureRegret, IsAboveItsFormulaInMoreDigits) {
    for (Index d = 2; d <= 9; ++d)
        for (double t = 0; t < 9e3; t = std::floor(1.01 * t + 1)) {
            const auto n = static_cast<long double>(t), half = static_cast<long double>(d) / 2;
            const long double exact =
                std::lgamma(0.5L) - std::lgamma(half) + std::lgamma(n + half) - std::lgamma(n + 0.5L);
            EXPECT_GE(static_cast<long double>(detail::mixture_regret(t, d)), exact)
                << d << " features, " << t;
            EXPECT_LE(static_cast<long double>(detail::mixture_regret(t, d)), exact + 1e-9L)
                << d << " features, " << t;
        }
}

TEST(Kappa, BoundsTheLogarithmOnBothSides) {
    for (double b = -0.999; b < 50; b += 0.0373)
        for (double x = -0.998; x < 50; x += 0.0911) {
            const double value = x - std::log1p(x), bound = detail::kappa(b) * x * x;
            if (x <= b) {
                EXPECT_GE(value, bound * (1 - 1e-12));
            } else {
                EXPECT_LE(value, bound * (1 + 1e-12));
            }
        }
    EXPECT_NEAR(detail::kappa(0), 0.5, 1e-15);
    // Where the series takes over nothing jumps.
    for (const double x : {1e-3, -1e-3})
        EXPECT_NEAR(detail::kappa(x * (1 - 1e-9)), detail::kappa(x * (1 + 1e-9)), 1e-11);
    EXPECT_TRUE(std::isinf(detail::kappa(-1)));
}

TEST(Volumes, AreThoseOfKnownBodies) {
    EXPECT_NEAR(std::exp(detail::log_ball_volume(2)), 3.141592653589793, 1e-12);
    EXPECT_NEAR(std::exp(detail::log_ball_volume(3)), 4.0 / 3 * 3.141592653589793, 1e-12);
    EXPECT_NEAR(std::exp(detail::log_simplex_volume(2)), std::sqrt(2.0), 1e-12);  // a segment
    EXPECT_NEAR(std::exp(detail::log_simplex_volume(3)), std::sqrt(3.0) / 2,
                1e-12);  // a triangle of side sqrt 2
}

}  // namespace
}  // namespace alidade::likelihood_test
