#include <algorithm>
#include <cmath>
#include <numbers>

#include "sets.hpp"

// The allowance of likelihood sets with a mixture about the hypothesis [docs/algorithms/likelihood.md,
// Theorem 1c].
namespace alidade::referee::detail {

namespace {

/// x' M x.
Real form(const Square& matrix, const Numbers& x) {
    Real sum = 0;
    for (Index i = 0; i < matrix.n; ++i)
        for (Index j = 0; j < matrix.n; ++j) sum += x[at(i)] * matrix(i, j) * x[at(j)];
    return sum;
}

Numbers product(const Square& matrix, const Numbers& x) {
    Numbers result(at(matrix.n), 0);
    for (Index i = 0; i < matrix.n; ++i)
        for (Index j = 0; j < matrix.n; ++j) result[at(i)] += matrix(i, j) * x[at(j)];
    return result;
}

/// A_1: what a visit of an average pair tells at equal weights.
Square mean_information(const Facts& facts) {
    Square sum(facts.p);
    for (std::size_t e = 0; e < facts.phi.size(); ++e) {
        Real mean = 0;
        for (const Real value : facts.phi[e]) mean += value / static_cast<Real>(facts.d);
        if (mean > 0) add_square(sum, 1 / mean / static_cast<Real>(facts.pairs), facts.psi[e]);
    }
    return sum;
}

/// The form A = A_1 + ridge I, and what it is made of.
struct Metric {
    Square whole, base;
    Real ridge = 0;

    explicit Metric(const Facts& facts) : whole(facts.p), base(mean_information(facts)) {
        Real trace = 0;
        for (Index i = 0; i < facts.p; ++i) trace += base(i, i);
        ridge = trace > 0 ? 1e-3L * trace / static_cast<Real>(facts.p) : 0;
        if (!(trace > 0))
            for (Index i = 0; i < facts.p; ++i) base(i, i) = 1;
        whole = base;
        for (Index i = 0; i < facts.p; ++i) whole(i, i) += ridge;
    }
};

/// [Lemma 3c]: r_U and tr(A Sigma), for one k.
struct Inner {
    Real regret, spread;
};

Inner inner_gaussian(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights,
                     const Numbers& c, const Metric& metric, Real k) {
    constexpr Real r = 0.97L, z = 4;
    const auto p = static_cast<Real>(facts.p);
    Square first(facts.p);
    for (Index i = 0; i < facts.d; ++i) add_square(first, k / (c[at(i)] * c[at(i)]), facts.corners[at(i)]);
    Square second = first;
    Real ratio = 0, mass = 0;
    for (const Row& row : rows) {
        const Real predicted = dot(c, row.f);
        ratio += row.count * std::log(dot(weights, row.f) / predicted);
        add_square(first, row.count / (predicted * predicted), row.z);
    }
    const Square lower = factor_of(first);
    for (const Row& row : rows) {
        const Real predicted = dot(c, row.f), s = norm(forward(lower, row.z)) / predicted;
        const Real b = std::min(r, z * s);
        add_square(second, -std::log1p(-b * b) / (b * b) * row.count / (predicted * predicted), row.z);
        if (z * s < r) mass += std::log(std::erf(z / std::numbers::sqrt2_v<Real>));
    }
    const Square factor = factor_of(second);
    for (Index i = 0; i < facts.d; ++i)
        mass += std::log(std::erf(r * c[at(i)] / std::numbers::sqrt2_v<Real> /
                                  norm(forward(factor, facts.corners[at(i)]))));
    Real spread = 0;
    for (Index j = 0; j < facts.p; ++j) {
        Numbers unit(at(facts.p), 0);
        unit[at(j)] = 1;
        const Numbers column = solve(factor, unit);
        for (Index i = 0; i < facts.p; ++i) spread += metric.whole(j, i) * column[at(i)];
    }
    const Real volume = std::log(p + 1) / 2 - log_gamma(p + 1);
    const Real inside = p / 2 * std::log(2 * std::numbers::pi_v<Real>) - log_determinant(factor) / 2 + mass;
    return {volume - inside + ratio, spread};
}

/// At least |theta - c|_A^2 for the members of the ball and the simplex.
Real squared_reach(const Ball& ball, const Facts& facts, const Numbers& c, const Metric& metric) {
    const Numbers middle = facts.coordinates(c);
    Numbers off = ball.centre;
    for (std::size_t i = 0; i < off.size(); ++i) off[i] -= middle[i];
    const auto of_form = [&](const Square& matrix) {
        // L^-1 M L^-T, column by column.
        std::vector<Numbers> half;
        for (Index j = 0; j < facts.p; ++j) {
            Numbers column;
            for (Index i = 0; i < facts.p; ++i) column.push_back(matrix(i, j));
            half.push_back(forward(ball.factor, column));
        }
        Square whitened(facts.p);
        for (Index i = 0; i < facts.p; ++i) {
            Numbers row;
            for (Index j = 0; j < facts.p; ++j) row.push_back(half[at(j)][at(i)]);
            const Numbers done = forward(ball.factor, row);
            for (Index j = 0; j < facts.p; ++j) whitened(i, j) = done[at(j)];
        }
        return ball.radius * ball.radius * largest_eigenvalue(whitened) +
               2 * ball.radius * norm(forward(ball.factor, product(matrix, off))) + form(matrix, off);
    };
    Real corner = 0, plain = 0;
    for (Index i = 0; i < facts.d; ++i) {
        Numbers at_corner(at(facts.d), 0);
        at_corner[at(i)] = 1;
        Numbers from = facts.coordinates(at_corner);
        for (std::size_t k = 0; k < from.size(); ++k) from[k] -= middle[k];
        corner = std::max(corner, form(metric.whole, from));
        plain = std::max(plain, dot(from, from));
    }
    return std::min({corner, of_form(metric.whole), of_form(metric.base) + metric.ridge * plain});
}

}  // namespace

std::vector<bool> telling_sets(const Facts& facts) {
    const Setting& s = facts.setting;
    if (s.homogeneous) return {true};
    std::vector<bool> reached(at(s.states), false), steps;
    for (const auto& [state, probability] : s.start)
        if (probability > 0) reached[at(state)] = true;
    for (Index h = 0; h + 1 < s.horizon; ++h) {
        std::vector<bool> next(reached.size(), false);
        bool tells = false;
        for (Index e = 0; e < s.offsets.back(); ++e) {
            const auto pair = std::ranges::upper_bound(s.offsets, e) - s.offsets.begin() - 1;
            if (!reached[at(pair / s.actions)]) continue;
            next[at(s.targets[at(e)])] = true;
            for (const Real value : facts.phi[at(e)]) tells = tells || value != facts.phi[at(e)].front();
        }
        steps.push_back(tells);
        reached = next;
    }
    return steps;
}

Real centred_allowance(const std::vector<Row>& rows, const Facts& facts, const Numbers& weights,
                       const double* predicted, Real failure) {
    constexpr Real a_most = 0.4L;
    const Real none = infinity;
    const auto p = static_cast<Real>(facts.p);
    Real t = 0, reached = 0;
    for (const Row& row : rows) {
        t += row.count;
        if (row.tells()) reached += row.count * std::log(dot(weights, row.f));
    }
    std::vector<Row> telling;
    for (const Row& row : rows)
        if (row.tells()) telling.push_back(row);
    const Real kt = dirichlet_regret(t, facts.d);
    const Real preq = predicted == nullptr ? none : reached - *predicted;
    const auto together = [&](Real uniform, Real centred) {
        const Numbers shares =
            predicted == nullptr ? Numbers{0.05L, 0.4L, 0.55L, 0} : Numbers{0.05L, 0.3L, 0.45L, 0.2L};
        const Numbers regrets{kt, uniform, centred, preq};
        Real sum = 0;
        for (std::size_t m = 0; m < regrets.size(); ++m)
            if (shares[m] > 0) sum += shares[m] * std::exp(-regrets[m]);
        return std::log(1 / failure) - std::log(sum);
    };
    if (telling.empty()) return together(0, 0);
    const Metric metric(facts);
    const Numbers c = most_likely(rows, facts, 1);
    std::vector<Inner> inner;
    Real uniform = none;
    for (const Real k : {0.1L, 1.0L}) {
        inner.push_back(inner_gaussian(telling, facts, weights, c, metric, k));
        uniform = std::min(uniform, inner.back().regret);
    }
    // ln R, of the ball that has the volume of the simplex.
    const Real ball_volume = p / 2 * std::log(std::numbers::pi_v<Real>) - log_gamma(p / 2 + 1);
    const Real radius = (log_determinant(factor_of(metric.whole)) / 2 + std::log(p + 1) / 2 -
                         log_gamma(p + 1) - ball_volume) /
                        p;
    const Real a = std::min(a_most, p);
    Real allowed = together(uniform, none);
    for (int round = 0; round < 20; ++round) {
        const Real reach = squared_reach(likelihood_ball(rows, facts, weights, allowed), facts, c, metric);
        Real centred = none;
        for (const Inner& each : inner)
            centred = std::min(centred, each.regret + std::log(p / a) -
                                            (p - a) * (radius - std::log(reach + each.spread) / 2));
        allowed = std::min(allowed, together(uniform, centred));
    }
    return allowed;
}

}  // namespace alidade::referee::detail
