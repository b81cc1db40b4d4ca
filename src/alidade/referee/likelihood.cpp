#include <algorithm>
#include <cmath>
#include <numbers>

#include "sets.hpp"

namespace alidade::referee::detail {

// Newton's method in tangent coordinates, halving steps that leave the simplex or do not climb; first with a
// large barrier, then with less and less of it. Any interior point is a valid centre below.
Numbers most_likely(const std::vector<Row>& rows, const Facts& facts, Real barrier) {
    Numbers theta(at(facts.d), 1 / static_cast<Real>(facts.d));
    for (Real mu = std::max<Real>(1, barrier);; mu = std::max(barrier, mu / 10)) {
        const auto value = [&](const Numbers& point) {
            Real sum = 0;
            for (const Real t : point) sum += t > 0 ? mu * std::log(t) : -infinity;
            for (const Row& row : rows) sum += row.count * std::log(dot(point, row.f) / dot(theta, row.f));
            return sum;
        };
        for (int step = 0; step < 60; ++step) {
            Numbers slope(at(facts.d), 0);
            Square curvature(facts.p);
            for (const Row& row : rows) {
                const Real predicted = dot(theta, row.f);
                for (Index i = 0; i < facts.d; ++i) slope[at(i)] += row.count * row.f[at(i)] / predicted;
                add_square(curvature, row.count / (predicted * predicted), row.z);
            }
            for (Index i = 0; i < facts.d; ++i) {
                slope[at(i)] += mu / theta[at(i)];
                add_square(curvature, mu / (theta[at(i)] * theta[at(i)]), facts.corners[at(i)]);
            }
            const Numbers gradient = facts.reduced(slope);
            const Numbers move = solve(factor_of(curvature), gradient);
            const Numbers from = facts.coordinates(theta);
            Numbers best = theta;
            const Real here = value(theta);
            Real length = 2;
            for (int halving = 0; halving < 40; ++halving) {
                length /= 2;
                Numbers to = from;
                for (std::size_t k = 0; k < to.size(); ++k) to[k] += length * move[k];
                best = facts.weights(to);
                if (value(best) > here) break;
                best = theta;
            }
            if (best == theta || dot(gradient, move) < 1e-22L) break;
            theta = best;
        }
        if (mu <= barrier) return theta;
    }
}

Real dirichlet_regret(Real t, Index features) {
    const Real half = static_cast<Real>(features) / 2;
    return log_gamma(0.5L) + log_gamma(t + half) - log_gamma(half) - log_gamma(t + 0.5L);
}

namespace {

/// [docs/algorithms/likelihood.md, Lemma 3] L(weights) less the logarithm of the uniform mixture, at most:
/// for any interior centre c, 0 < r < 1 and rho > 0, of which the best are taken.
Real determinant_regret(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights) {
    const Index n = facts.p;
    const auto dimension = static_cast<Real>(n);
    const Real ball = dimension / 2 * std::log(std::numbers::pi_v<Real>) - log_gamma(dimension / 2 + 1);
    const Real density = log_gamma(dimension + 1) - std::log(dimension + 1) / 2;  // ln((d-1)!/sqrt d)
    Real least = infinity;
    for (const Real barrier : {0.5L, 1.0L, 2.0L}) {
        const Numbers c = most_likely(rows, facts, barrier);
        Square information(n), faces(n);
        Real ratio = 0;  // L(weights) - L(c)
        for (const Row& row : rows) {
            const Real predicted = dot(c, row.f);
            ratio += row.count * std::log(dot(weights, row.f) / predicted);
            add_square(information, row.count / (predicted * predicted), row.z);
        }
        for (Index i = 0; i < facts.d; ++i)
            add_square(faces, 1 / (c[at(i)] * c[at(i)]), facts.corners[at(i)]);
        for (const Real r : {0.3L, 0.6L, 0.85L})
            for (const Real square : {dimension / 2, dimension, dimension + 2}) {  // rho^2
                Square metric = information;
                for (std::size_t k = 0; k < metric.elements.size(); ++k)
                    metric.elements[k] += square / (r * r) * faces.elements[k];
                const Square lower = factor_of(metric);
                Real curved = 0;
                for (const Row& row : rows) {
                    const Real length = norm(forward(lower, row.z)) / dot(c, row.f);
                    curved += row.count * kappa(-std::min(r, std::sqrt(square) * length)) * length * length;
                }
                const Real mixture = density + ball + dimension / 2 * std::log(square) -
                                     log_determinant(lower) / 2 - square / (dimension + 2) * curved;
                least = std::min(least, ratio - mixture);
            }
    }
    return least;
}

}  // namespace

// B = ln(number of mixtures) + the least regret + ln(1/failure).
Real allowance(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights,
               const double* predicted, Real failure) {
    Real t = 0, reached = 0;
    for (const Row& row : rows) {
        t += row.count;
        if (row.tells()) reached += row.count * std::log(dot(weights, row.f));
    }
    Real regret = dirichlet_regret(t, facts.d);
    if (!rows.empty()) regret = std::min(regret, determinant_regret(rows, facts, weights));
    if (predicted != nullptr) regret = std::min(regret, reached - *predicted);
    return std::log(predicted != nullptr ? 3.0L : 2.0L) + regret + std::log(1 / failure);
}

// With scores s_i = sum_t f_ti/(theta~ . f_t), g = max_i s_i - t, mu_i = t + g - s_i, and b_t at least
// x_t = (theta-theta~).f_t/(theta~.f_t), first max_i f_ti/(theta~.f_t) - 1, then what the last ball says:
//   (theta-theta~)' [sum_t kappa(b_t) f f'/(theta~.f)^2 + diag(w) + tau] (theta-theta~)
//       <= B + g + sum_i w_i theta~_i^2 + tau max_i |theta~ - e_i|^2,  w_i = max(mu_i, mu_i^2/(B+g)).
// Any smaller w_i will do: 0 where it costs much. More rounds than the library's only shrink the ball.
Ball likelihood_ball(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights, Real allowed) {
    constexpr Real tau = 0.05L;
    constexpr int rounds = 40;
    Numbers scores(at(facts.d), 0), bounds;
    Real t = 0;
    for (const Row& row : rows) {
        const Real predicted = dot(weights, row.f);
        for (Index i = 0; i < facts.d; ++i) scores[at(i)] += row.count * row.f[at(i)] / predicted;
        bounds.push_back(*std::ranges::max_element(row.f) / predicted - 1);
        t += row.count;
    }
    const Real gap = std::max<Real>(0, *std::ranges::max_element(scores) - t), room = allowed + gap;
    Square constant(facts.p);
    Real square = room, farthest = 0;
    for (Index i = 0; i < facts.d; ++i) {
        const Real mu = std::max<Real>(0, t + gap - scores[at(i)]), w = std::max(mu, mu * mu / room);
        const Real cost = w * weights[at(i)] * weights[at(i)];
        farthest = std::max(farthest, dot(weights, weights) + 1 - 2 * weights[at(i)]);
        if (cost > 1e-3L * room / static_cast<Real>(facts.d)) continue;
        square += cost;
        add_square(constant, w, facts.corners[at(i)]);
    }
    for (Index k = 0; k < facts.p; ++k) constant(k, k) += tau;
    square += tau * farthest;
    Ball ball{facts.coordinates(weights), {}, std::sqrt(square)};
    for (int round = 0; round < rounds; ++round) {
        Square precision = constant;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const Real predicted = dot(weights, rows[k].f);
            add_square(precision, kappa(bounds[k]) * rows[k].count / (predicted * predicted), rows[k].z);
        }
        ball.factor = factor_of(precision);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const Real length = norm(forward(ball.factor, rows[k].z));
            bounds[k] = std::min(bounds[k], ball.radius * length / dot(weights, rows[k].f));
        }
    }
    return ball;
}

}  // namespace alidade::referee::detail
