#include <algorithm>
#include <cmath>

#include "sets.hpp"

namespace alidade::referee::detail {

namespace {

constexpr Real barrier = 1e-6L;

/// The probability of every entry at theta_0 + N zeta.
Numbers probabilities(const Facts& facts, const Numbers& zeta) {
    const Numbers weights = facts.weights(zeta);
    Numbers result;
    for (const Numbers& phi : facts.phi) result.push_back(dot(weights, phi));
    return result;
}

/// L plus the barrier's part of all entries and of the norm: value, slope and curvature.
struct Barred {
    Real value = 0;
    Numbers slope;
    Square curvature;
};

Barred barred(const Facts& facts, const Numbers& counts, const Numbers& zeta) {
    const Numbers chance = probabilities(facts, zeta);
    const Real room = facts.reach * facts.reach - dot(zeta, zeta);
    Barred result{barrier * std::log(room), Numbers(zeta.size(), 0), Square(facts.p)};
    if (room <= 0) return {-infinity, {}, {}};
    for (std::size_t e = 0; e < chance.size(); ++e) {
        if (norm(facts.psi[e]) * facts.reach <= 1e-12L) continue;
        if (chance[e] <= 0) return {-infinity, {}, {}};
        const Real weight = counts[e] + barrier;
        result.value += weight * std::log(chance[e]);
        for (std::size_t k = 0; k < zeta.size(); ++k) result.slope[k] += weight / chance[e] * facts.psi[e][k];
        add_square(result.curvature, weight / (chance[e] * chance[e]), facts.psi[e]);
    }
    for (std::size_t k = 0; k < zeta.size(); ++k) {
        result.slope[k] -= 2 * barrier / room * zeta[k];
        result.curvature(static_cast<Index>(k), static_cast<Index>(k)) += 2 * barrier / room;
    }
    add_square(result.curvature, 4 * barrier / (room * room), zeta);
    return result;
}

/// Newton's method from an inner point, steps halved until they gain.
Numbers most_likely_inside(const Facts& facts, const Numbers& counts, Numbers zeta) {
    Barred here = barred(facts, counts, zeta);
    if (here.value == -infinity) throw Unsolvable{};
    for (int step = 0; step < 200; ++step) {
        const Numbers direction = solve(factor_of(here.curvature), here.slope);
        if (dot(direction, here.slope) < 1e-24L) break;
        Real length = 1;
        bool gained = false;
        for (int halving = 0; halving < 60 && !gained; ++halving, length /= 2) {
            Numbers trial = zeta;
            for (std::size_t k = 0; k < trial.size(); ++k) trial[k] += length * direction[k];
            Barred there = barred(facts, counts, trial);
            if (there.value < here.value) continue;
            zeta = std::move(trial);
            here = std::move(there);
            gained = true;
        }
        if (!gained) break;
    }
    return zeta;
}

}  // namespace

// With multipliers m_e = barrier/p_e of the entries, the slope of L at the barrier's maximiser is minus their
// sum of m psi, plus the norm's part and a residual r; so slope . (zeta' - zeta) <= sum m p + barrier + 2 R
// |r| for all weights that make laws: the gap. Then as Lemma 4b says.
Ball signed_likelihood_ball(const Facts& facts, const Transitions& seen, Index set, const Numbers& weights,
                            Real predicted, Real failure) {
    const std::vector<Row> rows = rows_of(facts, seen, set);
    Numbers counts(facts.phi.size(), 0);
    for (Index h = 0; h + 1 < facts.setting.horizon; ++h)
        for (std::size_t e = 0; e < counts.size() && facts.set_of(h) == set; ++e)
            counts[e] += static_cast<Real>(seen.counts[at(h) * counts.size() + e]);
    const Numbers zeta = most_likely_inside(facts, counts, facts.coordinates(weights));
    const Numbers centre = facts.weights(zeta);
    const Real gap = barrier * static_cast<Real>(counts.size() + 1) +
                     2 * facts.reach * norm(barred(facts, counts, zeta).slope);
    Real reach = std::log(1 / failure) - predicted + gap;
    Numbers bounds;
    for (const Row& row : rows) {
        const Real chance = dot(centre, row.f);
        reach += row.count * std::log(chance);
        bounds.push_back(1 / chance - 1);
    }
    if (reach < 0) throw Contradicted{};
    const Real farthest = 4 * facts.reach * facts.reach, tau = 0.1L / farthest;
    Ball ball{zeta, {}, std::sqrt(reach + tau * farthest)};
    for (int round = 0; round < 40; ++round) {
        Square precision(facts.p);
        for (Index k = 0; k < facts.p; ++k) precision(k, k) = tau;
        for (std::size_t k = 0; k < rows.size(); ++k)
            add_square(precision,
                       kappa(bounds[k]) * rows[k].count / std::pow(dot(centre, rows[k].f), Real{2}),
                       rows[k].z);
        ball.factor = factor_of(precision);
        for (std::size_t k = 0; k < rows.size(); ++k)
            bounds[k] = std::min(
                bounds[k], ball.radius * norm(forward(ball.factor, rows[k].z)) / dot(centre, rows[k].f));
    }
    return ball;
}

}  // namespace alidade::referee::detail
