#include "bounds.hpp"

#include <algorithm>
#include <cmath>

#include "width.hpp"

namespace alidade::referee::detail {

namespace {

/// A probability that counts as none: all of them together move a total variation by less than the tolerance.
constexpr Real negligible = 1e-15L;

/// [docs/algorithms/likelihood.md, Lemma 4] total variation of two laws with that divergence, at most.
Real variation_of(Real divergence) {
    return std::min(std::sqrt(divergence / 2), std::sqrt(-std::expm1(-divergence)));
}

}  // namespace

Bounds::Bounds(const Facts& facts, std::vector<Numbers> weights, std::vector<std::vector<Ball>> balls)
    : facts_(facts), weights_(std::move(weights)), balls_(std::move(balls)) {
    for (const Numbers& theta : weights_) {
        Numbers law;
        for (const Numbers& phi : facts.phi) law.push_back(std::max<Real>(0, dot(theta, phi)));
        law_.push_back(law);
    }
    bound_deviations();
}

// [docs/algorithms/hoeffding.md, Total variation] tau = min{1, about * width, max_i TV(P_i, P~)} plus what
// the truth may be off.
void Bounds::bound_deviations() {
    for (std::size_t set = 0; set < weights_.size(); ++set) {
        Numbers row;
        for (Index pair = 0; pair < facts_.pairs; ++pair) {
            const Index first = facts_.setting.offsets[at(pair)], last = facts_.setting.offsets[at(pair + 1)];
            Real tau = facts_.p == 0 ? 0 : 1;
            for (const Ball& ball : balls_[set]) {
                std::vector<Numbers> generators;
                for (Index e = first; e < last; ++e)
                    generators.push_back(forward(ball.factor, facts_.psi[at(e)]));
                const Width width = width_of(generators);
                exact_ = exact_ && width.exact;
                tau = std::min(tau, ball.about * width.upper);
            }
            Real farthest = 0;
            for (Index i = 0; i < facts_.d; ++i) {
                Real variation = 0;
                for (Index e = first; e < last; ++e)
                    variation += std::abs(facts_.phi[at(e)][at(i)] - law_[set][at(e)]) / 2;
                farthest = std::max(farthest, variation);
            }
            if (facts_.setting.base_models) tau = std::min(tau, farthest);
            row.push_back(std::min<Real>(1, tau + facts_.setting.misspecification));
        }
        tau_.push_back(row);
    }
}

// Each is a bound: the ball about theta~, that about its own centre, the parameters, and both together: as
// theta_i >= 0, f . theta <= (f + lambda) . theta for lambda >= 0 [docs/algorithms/likelihood.md, Setting and
// what is known], one lambda_i after the other the best, where the ball crosses the face theta_i = 0.
Real Bounds::upper(Index set, const Numbers& f) const {
    const Numbers& theta = weights_[at(set)];
    const Numbers reduced = facts_.reduced(f);
    const Numbers centre(facts_.setting.centre.begin(), facts_.setting.centre.end());
    Real least = facts_.setting.base_models ? *std::ranges::max_element(f)
                                            : dot(centre, f) + facts_.reach * norm(reduced);
    for (const Ball& ball : balls_[at(set)]) {
        Numbers v = forward(ball.factor, reduced);
        least = std::min(
            {least, dot(theta, f) + ball.about * norm(v), dot(ball.middle, f) + ball.radius * norm(v)});
        if (!facts_.setting.base_models) continue;
        Real moved = 0;
        for (Index i = 0; i < facts_.d; ++i) {
            const Numbers& face = ball.units[at(i)];
            const Real length = norm(face), s = std::max<Real>(0, theta[at(i)]) / (ball.about * length);
            if (!(s < 0.9999999L)) continue;
            const Real a = dot(v, face) / (length * length);
            const Real q = std::sqrt(std::max<Real>(0, dot(v, v) / (length * length) - a * a));
            const Real lambda = std::max<Real>(0, -a - q * s / std::sqrt(1 - s * s));
            for (std::size_t k = 0; k < v.size(); ++k) v[k] += lambda * face[k];
            moved += lambda * theta[at(i)];
        }
        least = std::min(least, dot(theta, f) + moved + ball.about * norm(v));
    }
    return least;
}

Values Bounds::backwards(const Backup& backup, const Values* cap) const {
    const Setting& s = facts_.setting;
    Values values(at(s.horizon), Numbers(at(s.states), 0));
    for (Index h = s.horizon - 2; h >= 0; --h)
        for (Index state = 0; state < s.states; ++state) {
            Real most = 0;
            for (Index action = 0; action < s.actions; ++action)
                most = std::max(most, backup(h, state * s.actions + action, values[at(h + 1)]));
            values[at(h)][at(state)] = cap == nullptr ? most : std::min(most, (*cap)[at(h)][at(state)]);
        }
    return values;
}

Real Bounds::at_start(const Values& values) const {
    Real sum = 0;
    for (const auto& [state, probability] : facts_.setting.start) sum += probability * values[0][at(state)];
    return sum;
}

/// P~ next; what is infinite and cannot happen adds nothing.
Real Bounds::expect(Index step, Index pair, const Numbers& next) const {
    Real sum = 0;
    for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e) {
        const Real probability = law_[at(facts_.set_of(step))][at(e)];
        const Real value = next[at(facts_.setting.targets[at(e)])];
        if (std::isfinite(value) || probability > negligible) sum += probability * value;
    }
    return sum;
}

/// max over the members of P next; a misspecification moves it by its share of the values' span.
Real Bounds::highest(Index step, Index pair, const Numbers& next) const {
    if (facts_.setting.pair_features) return highest_row(step, pair, next);
    Numbers f(at(facts_.d), 0);
    for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e)
        for (Index i = 0; i < facts_.d; ++i)
            f[at(i)] += next[at(facts_.setting.targets[at(e)])] * facts_.phi[at(e)][at(i)];
    const Real most = *std::ranges::max_element(next), least = *std::ranges::min_element(next);
    return std::min(most, upper(facts_.set_of(step), f) + facts_.setting.misspecification * (most - least));
}

/// The same over all laws within tau of P~: mass tau moves from the smallest values to the largest
/// [docs/algorithms/rows.md, Extremes].
Real Bounds::highest_row(Index step, Index pair, const Numbers& next) const {
    Real most = 0;
    for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e)
        most = std::max(most, next[at(facts_.setting.targets[at(e)])]);
    return left_over(step, pair, next) + deviation(facts_.set_of(step), pair) * most;
}

Values Bounds::model() const {
    return backwards([&](Index h, Index pair, const Numbers& next) {
        return std::min(range(h), range(h) * deviation(facts_.set_of(h), pair) + expect(h, pair, next));
    });
}

/// P~ next with mass tau taken from the successors with the smallest values.
Real Bounds::left_over(Index step, Index pair, const Numbers& next) const {
    std::vector<std::pair<Real, Real>> order;  // value, probability
    for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e)
        order.emplace_back(next[at(facts_.setting.targets[at(e)])], law_[at(facts_.set_of(step))][at(e)]);
    std::ranges::sort(order);
    Real sum = 0, remove = deviation(facts_.set_of(step), pair);
    for (const auto& [value, probability] : order) {
        const Real removed = std::min(remove, probability);
        remove -= removed;
        sum += (probability - removed) * value;
    }
    return sum;
}

Real Bounds::coupled(Index step, Index pair, const Numbers& next) const {
    return range(step) * deviation(facts_.set_of(step), pair) + left_over(step, pair, next);
}

Values Bounds::coupling() const {
    return backwards([&](Index h, Index pair, const Numbers& next) { return coupled(h, pair, next); });
}

/// kappa_h: the largest total variation between two rows of P~; of many rows, one less what all share.
Real Bounds::farthest_rows(Index set) const {
    const Setting& s = facts_.setting;
    std::vector<Numbers> rows(at(facts_.pairs), Numbers(at(s.states), 0));
    for (Index pair = 0; pair < facts_.pairs; ++pair)
        for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e)
            rows[at(pair)][at(s.targets[at(e)])] += law_[at(set)][at(e)];
    const auto shared = [&](const Numbers& one, const Numbers& other) {
        Numbers least(one.size());
        for (std::size_t k = 0; k < one.size(); ++k) least[k] = std::min(one[k], other[k]);
        return least;
    };
    const auto mass = [](const Numbers& row) {
        Real sum = 0;
        for (const Real probability : row) sum += probability;
        return sum;
    };
    Real farthest = 0;
    if (rows.size() <= 500) {
        for (std::size_t one = 0; one < rows.size(); ++one)
            for (std::size_t other = 0; other < one; ++other)
                farthest = std::max(farthest, 1 - mass(shared(rows[one], rows[other])));
    } else {
        Numbers common = rows.front();
        for (const Numbers& row : rows) common = shared(common, row);
        farthest = 1 - mass(common);
    }
    return std::clamp<Real>(farthest, 0, 1);
}

Values Bounds::span() const {
    const Index horizon = facts_.setting.horizon;
    Numbers spans(at(horizon + 1), 0);
    for (Index h = horizon - 1; h >= 0; --h) {
        const Real contraction = h + 1 < horizon ? farthest_rows(facts_.set_of(h)) : 0;
        spans[at(h)] = std::min(static_cast<Real>(horizon - h), 1 + contraction * spans[at(h + 1)]);
    }
    return backwards([&](Index h, Index pair, const Numbers& next) {
        return std::min(range(h),
                        spans[at(h + 1)] * deviation(facts_.set_of(h), pair) + highest(h, pair, next));
    });
}

/// The least probability that a member gives to an entry.
Real Bounds::least_of(Index set, Index entry) const {
    const Numbers& phi = facts_.phi[at(entry)];
    if (facts_.setting.base_models) return *std::ranges::min_element(phi);
    Numbers reversed;
    for (const Real value : phi) reversed.push_back(-value);
    return std::max<Real>(0, -upper(set, reversed));
}

// [docs/algorithms/likelihood.md, Lemma 2] with w_j = L^-1 psi_j and rho = about. Successors that P~
// excludes, and, if `doubtful_apart`, those with rho |w_j| > P~_j, are the set E.
Real Bounds::divergence_by(const Ball& ball, Index set, Index pair, bool doubtful_apart) const {
    Square information(facts_.p);
    Numbers gained(at(facts_.p), 0);
    Real lost = 0;
    for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e) {
        const Real probability = law_[at(set)][at(e)];
        const Numbers w = forward(ball.factor, facts_.psi[at(e)]);
        const Real change = ball.about * norm(w);
        const bool excluded = probability <= negligible;
        const Real fall = excluded ? 0 : std::min(1 - least_of(set, e) / probability, change / probability);
        if (excluded || (doubtful_apart && change > probability)) {
            for (std::size_t k = 0; k < gained.size(); ++k) gained[k] += w[k];
            lost -= excluded ? 0 : probability * std::log1p(-fall);
        } else {
            const Real weight = kappa(-fall) / probability;
            if (!std::isfinite(weight)) return infinity;
            add_square(information, weight, w);
        }
    }
    return ball.about * ball.about * largest_eigenvalue(information) + ball.about * norm(gained) + lost;
}

Real Bounds::divergence(Index set, Index pair) const {
    Real least = facts_.p == 0 ? 0 : infinity;
    for (const Ball& ball : balls_[at(set)])
        least =
            std::min({least, divergence_by(ball, set, pair, false), divergence_by(ball, set, pair, true)});
    if (!facts_.setting.base_models) return least;
    Real farthest = 0;  // max_i KL(P~ || P_i)
    for (Index i = 0; i < facts_.d; ++i) {
        Real sum = 0;
        for (Index e = facts_.setting.offsets[at(pair)]; e < facts_.setting.offsets[at(pair + 1)]; ++e) {
            const Real p = facts_.phi[at(e)][at(i)], probability = law_[at(set)][at(e)];
            if (probability <= negligible) {
                sum += p;
                continue;
            }
            const Real x = p / probability - 1;
            sum += p > 0 ? probability * kappa(x) * x * x : infinity;
        }
        farthest = std::max(farthest, sum);
    }
    return std::min(least, farthest);
}

Real Bounds::leverage(Index set, Index pair) const {
    Real least = facts_.p == 0 ? 0 : infinity, farthest = 0;
    const Index first = facts_.setting.offsets[at(pair)], last = facts_.setting.offsets[at(pair + 1)];
    for (Index e = first; e < last; ++e)
        if (law_[at(set)][at(e)] <= negligible) return infinity;
    for (const Ball& ball : balls_[at(set)]) {
        Square information(facts_.p);
        for (Index e = first; e < last; ++e)
            add_square(information, 1 / law_[at(set)][at(e)], forward(ball.factor, facts_.psi[at(e)]));
        least = std::min(least, ball.about * ball.about * largest_eigenvalue(information));
    }
    if (!facts_.setting.base_models) return least;
    for (Index i = 0; i < facts_.d; ++i) {
        Real sum = 0;
        for (Index e = first; e < last; ++e) {
            const Real probability = law_[at(set)][at(e)], change = facts_.phi[at(e)][at(i)] - probability;
            sum += change * change / probability;
        }
        farthest = std::max(farthest, sum);
    }
    return std::min(least, farthest);
}

std::vector<Numbers> Bounds::table(Real (Bounds::*part)(Index, Index) const) const {
    std::vector<Numbers> rows(at(facts_.sets));
    for (Index set = 0; set < facts_.sets; ++set)
        for (Index pair = 0; pair < facts_.pairs; ++pair) rows[at(set)].push_back((this->*part)(set, pair));
    return rows;
}

Values Bounds::trajectory() const {
    const std::vector<Numbers> divergences = table(&Bounds::divergence);
    Values values = backwards([&](Index h, Index pair, const Numbers& next) {
        return divergences[at(facts_.set_of(h))][at(pair)] + expect(h, pair, next);
    });
    for (Index h = 0; h + 1 < facts_.setting.horizon; ++h)
        for (Real& value : values[at(h)])
            value = std::min(range(h), range(h) * variation_of(value) + transfer(h));
    return values;
}

// Z_h = zeta n_h + (1 - zeta) Z_{h+1}: by a coupling of the truth with the mixture that it is near.
Real Bounds::transfer(Index step) const {
    const Real zeta = facts_.setting.misspecification;
    if (step + 1 >= facts_.setting.horizon) return 0;
    return zeta * range(step) + (1 - zeta) * transfer(step + 1);
}

Values Bounds::hybrid() const {
    const Values cap = trajectory();
    return backwards([&](Index h, Index pair, const Numbers& next) { return coupled(h, pair, next); }, &cap);
}

Real Bounds::total_variance(const Values& cap, Real c, Real eta, Real falling) const {
    return total_variance(cap, table(&Bounds::leverage), c, eta, falling);
}

Real Bounds::total_variance(const Values& cap, const std::vector<Numbers>& leverages, Real c, Real eta,
                            Real falling, Values* errors) const {
    // c_h, and B_h = sum over k >= h of (n_k^2 - n_{k+1}^2)/(8 c_k). Of a total, weights do not fall.
    Numbers weight(at(facts_.setting.horizon), c), allowed(weight.size(), 0);
    for (Index h = facts_.setting.horizon - 2; h >= 0; --h) {
        if (!limited()) weight[at(h)] = c * std::pow((2 * range(h) - 1) / (2 * range(0) - 1), falling / 2);
        allowed[at(h)] = limited() ? range(h) * range(h) / (8 * c)
                                   : allowed[at(h + 1)] + (2 * range(h) - 1) / (8 * weight[at(h)]);
    }
    const Values values = backwards(
        [&](Index h, Index pair, const Numbers& next) {
            const Real n = range(h), tau = deviation(facts_.set_of(h), pair);
            const Real chi = leverages[at(facts_.set_of(h))][at(pair)];
            const Real power = std::pow(1 + eta, static_cast<Real>(h));
            const Real now = std::min(n * tau, weight[at(h)] / 2 * power * chi);
            if (h + 2 >= facts_.setting.horizon) return now;
            const Real later = range(h + 1);
            const Real by_growth = (1 + eta) * expect(h, pair, next) + chi * later / (4 * eta);
            const Real by_set = highest(h, pair, next) + tau * allowed[at(h + 1)] / (power * (1 + eta));
            return now + std::min(by_growth, by_set);
        },
        &cap);
    for (Index h = 0; errors != nullptr && h < facts_.setting.horizon; ++h)
        for (std::size_t s = 0; s < values[at(h)].size(); ++s)
            (*errors)[at(h)][s] =
                std::min((*errors)[at(h)][s],
                         values[at(h)][s] + allowed[at(h)] / std::pow(1 + eta, static_cast<Real>(h)));
    return at_start(values) + allowed.front();
}

// Any c, eta and fall give a bound: a grid about where (c/2) sum chi and (H-1)^2/(8c) balance, then steps
// that shrink.
Real Bounds::total_variance(const Values& cap, Values* errors) const {
    const Real least = at_start(cap);
    const std::vector<Numbers> leverages = table(&Bounds::leverage);
    const Real collected = at_start(backwards([&](Index h, Index pair, const Numbers& next) {
        return std::min<Real>(4, leverages[at(facts_.set_of(h))][at(pair)]) + expect(h, pair, next);
    }));
    if (!(collected > 0)) return least;
    Real best = infinity, c = 1, eta = 1, fall = 0;
    const auto attempt = [&](Real variance, Real growth, Real falling) {
        const Real found = total_variance(cap, leverages, variance, growth, falling, errors);
        // What is better by next to nothing is taken, and nobody goes on because of it.
        const bool goes_on = found < best * (1 - 1e-5L);
        if (!(found < best)) return false;
        best = found;
        c = variance;
        eta = growth;
        fall = falling;
        return goes_on;
    };
    const auto attempt_fall = [&](Real falling) {
        return !limited() && falling >= 0 && attempt(c, eta, falling);
    };
    const Real balance = range(0) / (2 * std::sqrt(collected));
    for (const Real falling : {0.0L, 1.0L}) {
        if (falling > 0 && limited()) continue;
        for (const Real growth : {1e-4L, 0.03L, 0.5L})
            for (int power = -4; power <= 4; ++power) attempt(std::ldexp(balance, power), growth, falling);
    }
    Real factor = 4;
    for (int level = 0; level < 8; ++level) {
        factor = std::sqrt(factor);
        for (int round = 0; round < 20; ++round)
            // A smaller eta is nearly always a little better, and comes last.
            if (!attempt(c * factor, eta, fall) && !attempt(c / factor, eta, fall) &&
                !attempt_fall(fall + std::log(factor)) && !attempt_fall(fall - std::log(factor)) &&
                !attempt(c, eta * factor, fall) && !attempt(c, eta / factor, fall))
                break;
    }
    return std::min(least, best);
}

}  // namespace alidade::referee::detail
