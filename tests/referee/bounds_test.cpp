#include "alidade/referee/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "small_cases.hpp"

// Every formula once by hand: theta~ = (1/2, 1/2), so P~ = (0.7, 0.3) from state 0, and a ball with L = 10
// and radius 1 about it, so that zeta is within 0.1 and every probability within 0.1 * 0.4/sqrt 2 = 0.0282843
// of P~.
namespace alidade::referee_bounds_test {
namespace {

using referee::detail::Ball;
using referee::detail::Bounds;
using referee::detail::Facts;
using referee::detail::Numbers;
using referee::detail::Real;

const double change = 0.04 / std::sqrt(2.0);

struct Hand {
    explicit Hand(referee::Setting given) : setting(std::move(given)), facts(setting), bounds(make()) {}

    Bounds make() const {
        Ball ball{{0}, referee::detail::Square(1), 1};
        ball.factor(0, 0) = 10;
        referee::detail::centre_at(ball, facts, {0.5L, 0.5L});
        const auto sets = at(facts.sets);
        return Bounds(facts, std::vector<Numbers>(sets, {0.5L, 0.5L}),
                      std::vector<std::vector<Ball>>(sets, {ball}));
    }

    referee::Setting setting;
    Facts facts;
    Bounds bounds;
};

double start(const Hand& hand, const referee::detail::Values& values) {
    return static_cast<double>(hand.bounds.at_start(values));
}

referee::Setting three_steps() {
    referee::Setting setting = referee_cases::two_models();
    setting.horizon = 3;
    return setting;
}

TEST(RefereeBounds, OfTwoStepsAreTheHandCalculatedOnes) {
    const Hand hand(referee_cases::two_models());
    EXPECT_NEAR(static_cast<double>(hand.bounds.deviation(0, 0)), change, 1e-12);
    EXPECT_EQ(hand.bounds.deviation(0, 1), 0);  // the base models agree at state 1
    // One step is left, whose value has range 1, and nothing can differ after it.
    EXPECT_NEAR(start(hand, hand.bounds.model()), change, 1e-12);
    EXPECT_NEAR(start(hand, hand.bounds.coupling()), change, 1e-12);
    EXPECT_NEAR(start(hand, hand.bounds.span()), change, 1e-12);
    // kappa(-c) x^2 P~ of both successors, x = change/P~ and c = x: each is P~ (-x - ln(1-x)).
    const auto term = [](double p) { return p * (-change / p - std::log(1 - change / p)); };
    const double divergence = term(0.7) + term(0.3);
    EXPECT_NEAR(static_cast<double>(hand.bounds.divergence(0, 0)), divergence, 1e-9);
    EXPECT_NEAR(start(hand, hand.bounds.trajectory()), std::sqrt(divergence / 2), 1e-9);
    EXPECT_NEAR(start(hand, hand.bounds.hybrid()), std::min(change, std::sqrt(divergence / 2)), 1e-9);
    // chi = change^2 (1/0.7 + 1/0.3); (c/2) chi + 1/(8c) is least at c = 1/(2 sqrt chi): sqrt(chi)/2.
    const double chi = change * change * (1 / 0.7 + 1 / 0.3);
    EXPECT_NEAR(static_cast<double>(hand.bounds.leverage(0, 0)), chi, 1e-9);
    const referee::detail::Values wide{{1, 1}, {0, 0}};
    EXPECT_NEAR(static_cast<double>(hand.bounds.total_variance(wide, 2, 0.1L, 0)),
                std::min(change, chi) + 1.0 / 16, 1e-9);
    // And for large c it is min(n tau, ...) = `change`, which is less here.
    EXPECT_NEAR(static_cast<double>(hand.bounds.total_variance(wide)), std::min(change, std::sqrt(chi) / 2),
                1e-6);
}

// At step 1 only state 0 is uncertain, by `change`; at step 0 two steps are left. P~ stays with 0.7.
TEST(RefereeBounds, OfThreeStepsAreTheHandCalculatedOnes) {
    const Hand hand(three_steps());
    EXPECT_NEAR(start(hand, hand.bounds.model()), 2 * change + 0.7 * change, 1e-12);
    // Mass `change` is taken from state 1, whose error is 0: nothing is gained by it.
    EXPECT_NEAR(start(hand, hand.bounds.coupling()), 2 * change + 0.7 * change, 1e-12);
    // Rows (0.7, 0.3) and (0, 1) are 0.7 apart, so spans are 1, 1.7, and the worst member stays more often.
    EXPECT_NEAR(start(hand, hand.bounds.span()), 1.7 * change + (0.7 + change) * change, 1e-12);
    const auto term = [](double p) { return p * (-change / p - std::log(1 - change / p)); };
    const double divergence = term(0.7) + term(0.3);
    EXPECT_NEAR(start(hand, hand.bounds.trajectory()), 2 * std::sqrt(1.7 * divergence / 2), 1e-9);
    // c = 3, eta = 0.5. Step 1: min(change, 1.5 * 1.5 chi). Step 0: n = 2.
    const double chi = change * change * (1 / 0.7 + 1 / 0.3);
    const double later = std::min(change, 1.5 * 1.5 * chi);
    const double growth = 1.5 * 0.7 * later + chi / 2;
    const double set = (0.7 + change) * later + change / (8 * 3 * 1.5);
    const double first = std::min(2 * change, 1.5 * chi) + std::min(growth, set);
    const referee::detail::Values wide{{2, 2}, {1, 1}, {0, 0}};
    EXPECT_NEAR(static_cast<double>(hand.bounds.total_variance(wide, 3, 0.5L, 0)), first + 4.0 / 24, 1e-9);
}

TEST(RefereeBounds, MisspecificationAddsToDeviationsAndBackups) {
    referee::Setting setting = three_steps();
    setting.misspecification = 0.01;
    const Hand hand(setting);
    const double off = change + 0.01;
    // State 1, where the base models agree, is off by 0.01 as well.
    EXPECT_NEAR(start(hand, hand.bounds.model()), 2 * off + 0.7 * off + 0.3 * 0.01, 1e-12);
    const double mean = (0.7 + change) * off + (0.3 - change) * 0.01;
    EXPECT_NEAR(start(hand, hand.bounds.span()), 1.7 * off + mean + 0.01 * (off - 0.01), 1e-12);
}

// Over the ball cut with the simplex; theta~ = (0.99, 0.01) is 0.01 sqrt 2 from an end, which bounds one
// side.
TEST(RefereeBounds, UpperEndIsTheLargestOverTheInterval) {
    const referee::Setting setting = referee_cases::two_models();
    const Facts facts(setting);
    Ball ball{facts.coordinates({0.99L, 0.01L}), referee::detail::Square(1), 1};
    ball.factor(0, 0) = 10;
    referee::detail::centre_at(ball, facts, {0.99L, 0.01L});
    const Bounds bounds(facts, {{0.99L, 0.01L}}, {{ball}});
    EXPECT_NEAR(static_cast<double>(bounds.upper(0, {3, 1})), 3, 1e-9);  // the end
    // The other way it is the ball's: 0.1 in zeta is 0.1/sqrt 2 of weight.
    EXPECT_NEAR(static_cast<double>(bounds.upper(0, {1, 3})), 1 + 2 * (0.01 + 0.1 / std::sqrt(2.0)), 1e-9);
}

TEST(RefereeBounds, LargestEigenvalueIsNeverBelow) {
    referee::detail::Square matrix(3);
    referee::detail::add_square(matrix, 2, {1, 1, 0});
    referee::detail::add_square(matrix, 3, {0, 0, 1});
    EXPECT_NEAR(static_cast<double>(referee::detail::largest_eigenvalue(matrix)), 4, 1e-6);
    EXPECT_GE(referee::detail::largest_eigenvalue(matrix), 4 * (1 - 1e-15L));
    EXPECT_EQ(referee::detail::largest_eigenvalue(referee::detail::Square(2)), 0);
}

}  // namespace
}  // namespace alidade::referee_bounds_test
