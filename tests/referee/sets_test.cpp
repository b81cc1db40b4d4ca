#include "alidade/referee/sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "small_cases.hpp"

// The sets of two base models are intervals, so that every claim about them can be tried point by point.
namespace alidade::referee_sets_test {
namespace {

using referee::detail::Ball;
using referee::detail::Facts;
using referee::detail::Numbers;
using referee::detail::Real;
using referee::detail::Row;
using referee_cases::two_models;

constexpr Real digits = 1e-12L;

/// G = 99.75, so Lambda = 100; b = 20.
referee::Regression regression() {
    return {1, true, {99.75}, {20}, {400}, 400};
}

// beta = 1/2 sqrt(ln(100/0.25) + 2 ln 10) + min(1/2 sqrt(1/2), 0.25 (1/sqrt 2)/10) = 1.627623908 +
// 0.017677670.
TEST(RefereeSets, RegressionBallIsTheHandCalculatedOne) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    const Ball ball = referee::detail::regression_ball(facts, regression(), 0, 0.1L);
    EXPECT_NEAR(static_cast<double>(ball.factor(0, 0)), 10, 1e-12);
    EXPECT_NEAR(static_cast<double>(ball.centre[0]), 0.2, 1e-12);
    EXPECT_NEAR(static_cast<double>(ball.radius), 1.6276239 + 0.0176777, 1e-6);
}

TEST(RefereeSets, RegressionInAllCoordinatesIsTheSameBall) {
    // Two rows phi_V = (0.9, 0.5) and (0.1, 0.5), each with n visits and h hits of V.
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    const double n[2] = {30, 12}, hits[2] = {20, 5}, x[2][2] = {{0.9, 0.5}, {0.1, 0.5}};
    referee::Regression tangent{1, true, {0}, {0}, {42}, 42}, whole{2, true, {0, 0, 0, 0}, {0, 0}, {42}, 42};
    referee::Regression paper = whole;
    paper.centred = false;
    for (int r = 0; r < 2; ++r) {
        const double psi = (x[r][0] - x[r][1]) / std::sqrt(2.0), centre = (x[r][0] + x[r][1]) / 2;
        tangent.gram[0] += n[r] * psi * psi;
        tangent.moment[0] += psi * (hits[r] - n[r] * centre);
        for (std::size_t i = 0; i < 2; ++i) {
            whole.moment[i] += x[r][i] * (hits[r] - n[r] * centre);
            paper.moment[i] += x[r][i] * hits[r];
            for (std::size_t j = 0; j < 2; ++j) whole.gram[2 * i + j] += n[r] * x[r][i] * x[r][j];
        }
    }
    paper.gram = whole.gram;
    const Ball one = referee::detail::regression_ball(facts, tangent, 0, 0.1L);
    for (const referee::Regression& other : {whole, paper}) {
        const Ball ball = referee::detail::regression_ball(facts, other, 0, 0.1L);
        EXPECT_NEAR(static_cast<double>(ball.centre[0]), static_cast<double>(one.centre[0]), 1e-12);
        EXPECT_NEAR(static_cast<double>(ball.factor(0, 0)), static_cast<double>(one.factor(0, 0)), 1e-12);
        EXPECT_NEAR(static_cast<double>(ball.radius), static_cast<double>(one.radius), 1e-12);
    }
}

std::vector<Row> rows(const Facts& facts, std::int64_t first, std::int64_t second) {
    return referee::detail::rows_of(facts, {{first, second, 0}, first + second}, 0);
}

Real log_likelihood(const std::vector<Row>& all, Real theta) {
    Real sum = 0;
    for (const Row& row : all) sum += row.count * std::log(theta * row.f[0] + (1 - theta) * row.f[1]);
    return sum;
}

// Seen 3 and 1 times the likelihood is largest where 0.5 + 0.4 theta = 3/4.
TEST(RefereeSets, MostLikelyWeightsAreTheHandCalculatedOnes) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    EXPECT_NEAR(static_cast<double>(referee::detail::most_likely(rows(facts, 3, 1), facts, 1e-6L)[0]), 0.625,
                1e-5);
    EXPECT_NEAR(static_cast<double>(referee::detail::most_likely(rows(facts, 0, 9), facts, 1e-6L)[0]), 0,
                1e-5);
    // With a barrier of 1: 3 (.4)/(.5+.4t) - (.4)/(.5-.4t) + 1/t - 1/(1-t) = 0 has the root 0.5356 (by
    // bisection).
    Real low = 0.01L, high = 0.99L;
    for (int k = 0; k < 80; ++k) {
        const Real t = (low + high) / 2;
        const Real slope = 1.2L / (0.5L + 0.4L * t) - 0.4L / (0.5L - 0.4L * t) + 1 / t - 1 / (1 - t);
        (slope > 0 ? low : high) = t;
    }
    EXPECT_NEAR(static_cast<double>(referee::detail::most_likely(rows(facts, 3, 1), facts, 1)[0]),
                static_cast<double>(low), 1e-9);
}

// The closed form after 4 observations: Gamma(1/2) Gamma(5) / (Gamma(1) Gamma(4.5)) = 24/6.5625, so with ln 2
// and ln 10 the allowance is at most 0.693147 + 1.296682 + 2.302585.
TEST(RefereeSets, AllowanceIsTheHandCalculatedClosedFormOrLess) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    const Numbers theta{0.625L, 0.375L};
    const double predicted = static_cast<double>(log_likelihood(rows(facts, 3, 1), 0.625L)) - 0.2;
    EXPECT_LE(static_cast<double>(referee::detail::allowance(rows(facts, 3, 1), facts, theta, nullptr, 0.1L)),
              std::log(2.0) + std::log(24 / 6.5625) + std::log(10.0) + 1e-9);
    // No data: one law each, so regret 0.
    EXPECT_NEAR(static_cast<double>(referee::detail::allowance({}, facts, theta, nullptr, 0.1L)),
                std::log(20.0), 1e-12);
    // Predictions that lose 0.2 against the fit: ln 3 + 0.2 + ln 10.
    EXPECT_NEAR(
        static_cast<double>(referee::detail::allowance(rows(facts, 3, 1), facts, theta, &predicted, 0.1L)),
        std::log(30.0) + 0.2, 1e-9);
}

// Whatever is subtracted from L(theta~), what is left is at most the logarithm of one of the two mixtures,
// here by quadrature; and not much less than the better one.
TEST(RefereeSets, AllowanceIsNoLessThanOneOfBothMixtures) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    for (const auto& [first, second] : {std::pair(3, 1), {40, 9}, {300, 200}, {5, 60}, {2000, 700}}) {
        const std::vector<Row> all = rows(facts, first, second);
        const Numbers theta = referee::detail::most_likely(all, facts, 1e-6L);
        const Real top = log_likelihood(all, theta[0]);
        Real uniform = 0, half = 0;
        constexpr int points = 200000;
        for (int k = 0; k < points; ++k) {
            const Real u = (static_cast<Real>(k) + 0.5L) / points, s = std::sin(u * std::acos(-1.0L) / 2);
            uniform += std::exp(log_likelihood(all, u) - top) / points;
            half += std::exp(log_likelihood(all, s * s) - top) / points;  // Dirichlet(1/2) is the law of s^2
        }
        const Real regret = referee::detail::allowance(all, facts, theta, nullptr, 0.1L) - std::log(20.0L);
        EXPECT_GE(regret, std::min(-std::log(uniform), -std::log(half)) - 1e-6L) << first;
        EXPECT_LE(regret, -std::log(uniform) + 0.7L) << first;
    }
}

TEST(RefereeSets, LikelihoodBallContainsAllThatTheAllowanceLeaves) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    for (const auto& [first, second] :
         {std::pair(0, 0), {3, 1}, {40, 9}, {300, 200}, {5, 60}, {0, 500}, {20000, 7000}}) {
        const std::vector<Row> all = rows(facts, first, second);
        const Numbers theta = referee::detail::most_likely(all, facts, 1e-6L);
        const Real allowed = referee::detail::allowance(all, facts, theta, nullptr, 0.1L);
        const Ball ball = referee::detail::likelihood_ball(all, facts, theta, allowed);
        Real farthest = 0;
        for (int k = 0; k <= 20000; ++k) {
            const Real t = static_cast<Real>(k) / 20000;
            if (log_likelihood(all, t) < log_likelihood(all, theta[0]) - allowed) continue;
            farthest = std::max(farthest, std::abs(t - theta[0]) * std::sqrt(2.0L) * ball.factor(0, 0));
        }
        EXPECT_LE(farthest, ball.radius * (1 + digits)) << first;
        if (first > 1000) {
            EXPECT_GT(farthest, 0.95L * ball.radius);
        }
    }
}

// Two intervals: [0.1, 0.5] and [0.3, 0.9] in zeta have [0.3, 0.5] in common.
TEST(RefereeSets, CommonBallContainsWhatBothHaveInCommon) {
    Ball one{{0.3L}, referee::detail::Square(1), 0.2L}, two{{0.6L}, referee::detail::Square(1), 0.9L};
    one.factor(0, 0) = 1;
    two.factor(0, 0) = 3;
    const Ball both = referee::detail::common_ball(one, two);
    const Real reach = both.radius / both.factor(0, 0);
    EXPECT_LE(both.centre[0] - reach, 0.3L + digits);
    EXPECT_GE(both.centre[0] + reach, 0.5L - digits);
    EXPECT_LT(reach, 0.19L);  // smaller than either, though not the least that there is
    two.centre[0] = 5;
    EXPECT_THROW(referee::detail::common_ball(one, two), referee::detail::Contradicted);
}

// zeta of members is within 1/sqrt 2 of 0. The estimate 1 is off the end by 1 - 1/sqrt 2 = 0.292893, so from
// the end, where the product with the way to any member is at most 0, the radius is sqrt(0.5^2 - 0.292893^2)
// = 0.405233.
TEST(RefereeSets, BallAboutAProjectionIsTheHandCalculatedOne) {
    const referee::Setting setting = two_models();
    const Facts facts(setting);
    Ball ball{{1}, referee::detail::Square(1), 0.5L};
    ball.factor(0, 0) = 1;
    referee::detail::centre_at(ball, facts, {1, 0});
    EXPECT_NEAR(static_cast<double>(ball.about), 0.405233, 1e-6);
    // About the middle the same members are farther than the radius says: 0.25 - 1 + 2 (1/sqrt 2) = 0.664214.
    Ball other{{1}, referee::detail::Square(1), 0.5L};
    other.factor(0, 0) = 1;
    referee::detail::centre_at(other, facts, {0.5L, 0.5L});
    EXPECT_NEAR(static_cast<double>(other.about * other.about), 0.25 - 1 + std::sqrt(2.0), 1e-9);
    Ball far{{9}, referee::detail::Square(1), 0.5L};
    far.factor(0, 0) = 1;
    EXPECT_THROW(referee::detail::centre_at(far, facts, {1, 0}), referee::detail::Contradicted);
}

}  // namespace
}  // namespace alidade::referee_sets_test
