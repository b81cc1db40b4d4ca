#include <algorithm>
#include <cmath>

#include "sets.hpp"
#include "width.hpp"

namespace alidade::referee::detail {

namespace {

/// [docs/algorithms/bernstein.md, Theorem 1] the least over exponents u and balls of radius rho of
/// kappa t/2 + (ln det/2 + ln(7/failure) - ln P(chi^2 <= kappa rho^2)) / t, where leverage (t + rho) <= u.
Real noise_radius(Index dimension, Real growth, Real leverage, Real failure) {
    const auto m = static_cast<Real>(dimension);
    Real least = infinity;
    for (const Real u : {0.05L, 0.1L, 0.25L, 0.5L, 1.0L, 2.0L, 3.0L})
        for (const Real share : {1.0L, 0.5L, 0.25L, 0.1L, 0.03L, 0.01L}) {
            const Real curvature = 2 * (std::exp(u) - 1 - u) / (u * u),
                       rho = share * std::sqrt(m / curvature);
            const Real x = share * share * m / 2;
            const Real outside = share == 1 ? std::log(2.0L) : x - m / 2 * std::log(x) + log_gamma(m / 2 + 1);
            const Real cost = growth / 2 + std::log(7 / failure) + outside;
            const Real t = std::min(std::sqrt(2 * cost / curvature), u / leverage - rho);
            if (t > 0) least = std::min(least, curvature * t / 2 + cost / t);
        }
    return least;
}

}  // namespace

// Z = lambda I + sum x x', lambda four times that of the plain regression, x = psi_V / sigma. No row's |x|
// |eta| is more than its pair's width in Z over the least sigma^2 of its rows.
std::optional<Ball> weighted_ball(const Facts& facts, const Weighted& weighted, Index set, Real failure) {
    const Index p = facts.p;
    const Real lambda = 4 * regularisation(facts);
    Square precision(p);
    Numbers moment;
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < p; ++j) precision(i, j) = weighted.rows.gram[at((set * p + i) * p + j)];
        precision(i, i) += lambda;
        moment.push_back(weighted.rows.moment[at(set * p + i)]);
    }
    Ball ball{{}, factor_of(precision)};
    ball.centre = solve(ball.factor, moment);
    Real leverage = 0;
    for (Index pair = 0; pair < facts.pairs; ++pair) {
        const Real variance = weighted.least_variances[at(set * facts.pairs + pair)];
        if (variance <= 0) continue;
        std::vector<Numbers> generators;
        for (Index e = facts.setting.offsets[at(pair)]; e < facts.setting.offsets[at(pair + 1)]; ++e)
            generators.push_back(forward(ball.factor, facts.psi[at(e)]));
        leverage = std::max(leverage, width_of(generators).upper / variance);
    }
    const Real growth = log_determinant(ball.factor) - static_cast<Real>(p) * std::log(lambda);
    const Real noise = noise_radius(p, std::max<Real>(0, growth), leverage, failure);
    if (noise == infinity) return std::nullopt;
    ball.radius = noise + bias(facts, ball.factor, lambda) +
                  facts.setting.misspecification * std::sqrt(Real{weighted.inverse_variances[at(set)]});
    return ball;
}

}  // namespace alidade::referee::detail
