#include "linear.hpp"

#include <algorithm>
#include <cmath>

#include "records.hpp"
#include "subject.hpp"

namespace alidade::referee::detail {

std::vector<Index> following_states(const Facts& facts) {
    const Setting& s = facts.setting;
    std::vector<bool> here(at(s.states), false);
    for (const auto& [state, probability] : s.start)
        if (probability > 0) here[at(state)] = true;
    std::vector<std::vector<bool>> follow(at(facts.sets), std::vector<bool>(at(s.states), false));
    for (Index h = 0; h + 1 < s.horizon; ++h) {
        std::vector<bool> next(at(s.states), false);
        for (Index pair = 0; pair < facts.pairs; ++pair)
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e)
                if (here[at(pair / s.actions)]) {
                    next[at(s.targets[at(e)])] = true;
                    follow[at(facts.set_of(h))][at(s.targets[at(e)])] = true;
                }
        here = next;
    }
    std::vector<Index> counts;
    counts.reserve(follow.size());
    for (const std::vector<bool>& set : follow)
        counts.push_back(static_cast<Index>(std::ranges::count(set, true)));
    return counts;
}

// The error of w^(V) in the metric is that of the noise, and sqrt(lambda) |mu V| <= sqrt(lambda) B = sqrt d.
// The noise is linear in V, so that its norm is largest at a vertex of the box; V and 1 - V have the same one
// up to its sign, which leaves 2^(S-1) vertices, and none at all if the next state is certain. That of one V
// is at most 1/2 sqrt(ln det(Lambda/lambda) + 2 ln(1/failure)), as V(s') lies in an interval of length 1.
Real linear_beta(const Facts& facts, Real growth, Index following, Real delta) {
    const Real bias = std::sqrt(static_cast<Real>(facts.d));
    if (following <= 1) return bias;
    const Real vertices = static_cast<Real>(following - 1) * std::log(2.0L);
    const Real failures = vertices + std::log(static_cast<Real>(facts.sets) / delta);
    return std::sqrt(std::max<Real>(0, growth) + 2 * failures) / 2 + bias;
}

namespace {

/// Lambda = lambda I + sum N(s,a) phi phi', lambda = d/B^2, and M = sum N(s,a,s') phi e_s'', state by state.
struct LinearSums {
    Square precision;
    std::vector<Numbers> arrivals;
    Real lambda;
};

LinearSums sums_of_transitions(const Facts& facts, const Transitions& seen, Index set) {
    const Setting& s = facts.setting;
    const Real bound = s.norm_bound;
    LinearSums sums{Square(facts.d), std::vector<Numbers>(at(s.states), Numbers(at(facts.d), 0)),
                    static_cast<Real>(facts.d) / (bound * bound)};
    for (Index i = 0; i < facts.d; ++i) sums.precision(i, i) = sums.lambda;
    for (Index pair = 0; pair < facts.pairs; ++pair) {
        const Numbers& phi = facts.phi[at(pair)];
        Real visits = 0;
        for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
            Real count = 0;
            for (Index h = 0; h + 1 < s.horizon; ++h)
                if (facts.set_of(h) == set)
                    count += static_cast<Real>(seen.counts[at(h) * s.targets.size() + at(e)]);
            visits += count;
            for (Index i = 0; i < facts.d; ++i)
                sums.arrivals[at(s.targets[at(e)])][at(i)] += count * phi[at(i)];
        }
        add_square(sums.precision, visits, phi);
    }
    return sums;
}

/// phi . mu^ of one pair, by what it would have to lose or gain to be a law.
struct RawLaw {
    RawLaw(const Facts& facts, const LinearSet& set, Index pair);

    Numbers on_successors;                       ///< of every entry
    Real inside = 0, outside = 0, negative = 0;  ///< what is positive, on the successors and not; what is not

    /// [docs/algorithms/lsvi.md, Theorem 1] of the truth P neither the sum of (phi . mu^ - P)+ nor that of
    /// (P - phi . mu^)+ is above u. Both are least, at once, for the P that has all that is positive on the
    /// successors, but for what is missing to 1 or too much.
    bool possible(Real u) const {
        const Real too_much = std::max<Real>(0, inside - 1), missing = std::max<Real>(0, 1 - inside);
        return std::max(outside + too_much, negative + missing) <= u + 1e-8L;
    }
};

RawLaw::RawLaw(const Facts& facts, const LinearSet& set, Index pair) {
    const Setting& s = facts.setting;
    for (const Numbers& mu : set.measures) {
        const Real value = dot(facts.phi[at(pair)], mu);
        (value > 0 ? outside : negative) += std::abs(value);
    }
    for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
        on_successors.push_back(dot(facts.phi[at(pair)], set.measures[at(s.targets[at(e)])]));
        inside += std::max<Real>(0, on_successors.back());
    }
    outside -= inside;
}

/// [docs/algorithms/lsvi.md, Theorem 2] for the pair's law P~ as it was handed over. Let q be phi . mu^ on
/// the successors without what is negative, divided by its sum z. Neither the sum of (z q - P)+ nor that of
/// (P - z q)+ is above u; the first bounds TV(P, q) if z >= 1, as q <= z q then, and the second if z <= 1. P~
/// should be q; if it is not, it is as much farther. Where u >= 1 any law is within u.
void add_row(const Facts& facts, const Numbers& law, Index pair, LinearSet& set) {
    const Index first = facts.setting.offsets[at(pair)], last = facts.setting.offsets[at(pair + 1)];
    const Real u = set.bonus[at(pair)];
    const RawLaw raw(facts, set, pair);
    if (!raw.possible(u)) throw Contradicted{};
    Real least = 1, moved = 0;
    for (Index e = first; e < last; ++e) {
        least = std::min(least, law[at(e)]);
        if (u < 1 && raw.inside > 0)
            moved +=
                std::abs(std::max<Real>(0, raw.on_successors[at(e - first)]) / raw.inside - law[at(e)]) / 2;
    }
    set.distance.push_back(u + moved);
    // Any law on the successors has at least the least of P~ in common with it, and all if it is the only
    // one.
    set.tau.push_back(last - first == 1 ? 0 : std::min(u + moved, 1 - std::max<Real>(0, least)));
}

Numbers laws_of(const Case& given, const Facts& facts, Index set) {
    const Index entries = static_cast<Index>(facts.setting.targets.size());
    const auto first = given.laws.begin() + set * entries;
    return Numbers(first, first + entries);
}

LinearSet linear_set(const Case& given, const Facts& facts, Index set, Index following) {
    const LinearSums sums = sums_of_transitions(facts, *given.evidence.likelihood, set);
    const Square factor = factor_of(sums.precision);
    const Real growth = log_determinant(factor) - static_cast<Real>(facts.d) * std::log(sums.lambda);
    const Real beta = linear_beta(facts, growth, following, given.delta);
    LinearSet result;
    result.law = laws_of(given, facts, set);
    for (const Numbers& arrivals : sums.arrivals) result.measures.push_back(solve(factor, arrivals));
    for (const Numbers& phi : facts.phi) result.bonus.push_back(beta * norm(forward(factor, phi)));
    for (Index pair = 0; pair < facts.pairs; ++pair) add_row(facts, result.law, pair, result);
    return result;
}

}  // namespace

std::vector<LinearSet> linear_sets(const Case& given, const Facts& facts) {
    const std::vector<Index> following = following_states(facts);
    std::vector<LinearSet> sets;
    for (Index set = 0; set < facts.sets; ++set)
        sets.push_back(linear_set(given, facts, set, following[at(set)]));
    return sets;
}

// With n = H-1-h: E_h = sup |V^P - V^P~| <= min(n, max_a n TV(P, P~) + P E_{h+1}), and P E <= phi . mu^ E +
// (n-1) u for E in [0, n-1]. So E_h <= steps V_h by induction, where V_h = max_a clip(phi . mu^ V_{h+1} + n u
// + n TV/steps, 0, n): P E <= steps P V.
Real exploration_value(const Facts& facts, const std::vector<LinearSet>& sets, Real steps) {
    const Setting& s = facts.setting;
    Numbers values(at(s.states), 0);
    for (Index h = s.horizon - 2; h >= 0; --h) {
        const LinearSet& set = sets[at(facts.set_of(h))];
        const auto n = static_cast<Real>(s.horizon - 1 - h);
        Numbers w(at(facts.d), 0);  // mu^ V
        for (Index state = 0; state < s.states; ++state)
            for (Index i = 0; i < facts.d; ++i)
                w[at(i)] += set.measures[at(state)][at(i)] * values[at(state)];
        for (Index state = 0; state < s.states; ++state) {
            Real most = 0;
            for (Index pair = state * s.actions; pair < (state + 1) * s.actions; ++pair)
                most = std::max(most, dot(facts.phi[at(pair)], w) + n * set.bonus[at(pair)] +
                                          n * set.distance[at(pair)] / steps);
            values[at(state)] = std::min(most, n);
        }
    }
    Real sum = 0;
    for (const auto& [state, probability] : s.start) sum += probability * values[at(state)];
    return sum;
}

// Of V = 1 the measures are a vector w with phi . w = 1 for every pair, as laws sum to one, and |w| <= B. The
// shortest is in the span of the features: t_k along directions q_k, which are found one after the other.
Finding examine_features(const Facts& facts) {
    const Setting& s = facts.setting;
    Subject subject("problem");
    require_start(subject, s);
    subject.require(s.misspecification == 0, "the laws are said to be off the features by {}",
                    s.misspecification);
    subject.require(std::isfinite(s.norm_bound) && s.norm_bound > 0, "the norm bound is {}", s.norm_bound);
    std::vector<Numbers> directions;
    Numbers w(at(facts.d), 0);
    for (Index pair = 0; pair < facts.pairs; ++pair) {
        const Numbers& phi = facts.phi[at(pair)];
        const Real size = norm(phi);
        subject.require(s.offsets[at(pair)] < s.offsets[at(pair + 1)], "pair {} leads nowhere", pair);
        subject.require(std::isfinite(size) && size <= 1 + 1e-6L, "the features of pair {} have the norm {}",
                        pair, static_cast<double>(size));
        Numbers rest = phi;
        for (int twice = 0; twice < 2; ++twice)  // once leaves rounding
            for (const Numbers& q : directions) {
                const Real along = dot(rest, q);
                for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * q[i];
            }
        const Real left = norm(rest);
        if (!(left > 1e-7L * size)) continue;
        const Real t = (1 - dot(phi, w)) / left;
        for (Real& element : rest) element /= left;
        for (std::size_t i = 0; i < w.size(); ++i) w[i] += t * rest[i];
        directions.push_back(rest);
    }
    for (Index pair = 0; pair < facts.pairs; ++pair)
        subject.require(near(dot(facts.phi[at(pair)], w), 1, 1e-5L), "no measures make a law of pair {}",
                        pair);
    subject.require(norm(w) <= s.norm_bound * (1 + 1e-5L),
                    "measures that make laws are longer than the norm bound");
    return subject.finding();
}

Finding examine_laws(const Case& given, const Facts& facts) {
    const Setting& s = facts.setting;
    Subject subject("laws");
    for (Index set = 0; set < facts.sets; ++set) {
        const Numbers law = laws_of(given, facts, set);
        for (Index pair = 0; pair < facts.pairs; ++pair) {
            Real sum = 0;
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
                subject.require(law[at(e)] >= 0, "row {} of set {} has a negative probability", pair, set);
                sum += law[at(e)];
            }
            subject.require(near(sum, 1, 1e-9L), "row {} of set {} sums to {}", pair, set,
                            static_cast<double>(sum));
        }
    }
    return subject.finding();
}

}  // namespace alidade::referee::detail
