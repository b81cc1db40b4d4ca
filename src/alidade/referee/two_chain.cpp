#include <algorithm>
#include <cmath>

#include "bounds.hpp"
#include "width.hpp"

// [docs/algorithms/two-chains.md] in plain loops over all states.
namespace alidade::referee::detail {

std::vector<Numbers> Bounds::rows_of_set(Index set) const {
    const Setting& s = facts_.setting;
    std::vector<Numbers> rows(at(facts_.pairs), Numbers(at(s.states), 0));
    for (Index pair = 0; pair < facts_.pairs; ++pair)
        for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e)
            rows[at(pair)][at(s.targets[at(e)])] += law_[at(set)][at(e)];
    return rows;
}

/// Where the truth may lead from a pair.
std::vector<bool> Bounds::leads(Index pair, bool anywhere) const {
    const Setting& s = facts_.setting;
    std::vector<bool> to(at(s.states), anywhere);
    for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) to[at(s.targets[at(e)])] = true;
    return to;
}

namespace {

/// What both laws share goes together, the rest independently.
Real coupled_mean(const Numbers& one, const Numbers& other, const std::vector<Numbers>& cost) {
    Real sum = 0, apart = 0, left = 0;
    Numbers first(one.size()), second(one.size());
    for (std::size_t s = 0; s < one.size(); ++s) {
        const Real shared = std::min(one[s], other[s]);
        sum += shared * cost[s][s];
        first[s] = one[s] - shared;
        second[s] = other[s] - shared;
        left += first[s];
    }
    for (std::size_t i = 0; i < one.size(); ++i)
        for (std::size_t j = 0; first[i] > 0 && j < one.size(); ++j)
            apart += first[i] * second[j] * cost[i][j];
    return left > 0 ? sum + apart / left : sum;
}

/// The largest over two states of a set.
Real over(const std::vector<Numbers>& spans, const std::vector<bool>& states) {
    Real most = 0;
    for (std::size_t i = 0; i < states.size(); ++i)
        for (std::size_t j = 0; states[i] && j < states.size(); ++j)
            if (states[j]) most = std::max(most, spans[i][j]);
    return most;
}

/// How much a table changes with its first argument.
Real oscillation(const std::vector<Numbers>& table, const std::vector<bool>& first,
                 const std::vector<bool>& second) {
    Real most = 0;
    for (std::size_t y = 0; y < second.size(); ++y) {
        Real low = infinity, high = 0;
        for (std::size_t x = 0; second[y] && x < first.size(); ++x)
            if (first[x]) {
                low = std::min(low, table[x][y]);
                high = std::max(high, table[x][y]);
            }
        most = std::max(most, high - std::min(low, high));
    }
    return most;
}

}  // namespace

bool Bounds::few_pairs() const {
    return facts_.pairs * facts_.pairs <= 10'000;
}

std::vector<std::vector<Numbers>> Bounds::optimal_spans() const {
    const Setting& s = facts_.setting;
    const std::vector<Numbers> none(at(s.states), Numbers(at(s.states), 0));
    std::vector<std::vector<Numbers>> spans(at(s.horizon + 1), none);
    Real whole = 0;
    for (Index h = s.horizon - 1; h >= 0; --h) {
        const bool last = h + 1 == s.horizon;
        const auto most = static_cast<Real>(s.horizon - h);
        if (!few_pairs()) whole = std::min(most, 1 + (last ? 0 : farthest_rows(facts_.set_of(h)) * whole));
        const std::vector<Numbers> rows = last ? none : rows_of_set(facts_.set_of(h));
        for (Index x = 0; x < s.states; ++x)
            for (Index y = 0; y < s.states; ++y) {
                Real worst = 0;
                for (Index a = 0; few_pairs() && !last && a < s.actions; ++a) {
                    Real least = infinity;
                    for (Index b = 0; b < s.actions; ++b)
                        least = std::min(least, coupled_mean(rows[at(x * s.actions + a)],
                                                             rows[at(y * s.actions + b)], spans[at(h + 1)]));
                    worst = std::max(worst, least);
                }
                if (x != y) spans[at(h)][at(x)][at(y)] = few_pairs() ? std::min(most, 1 + worst) : whole;
            }
    }
    return spans;
}

Values Bounds::optimal_span(const Values& cap) const {
    const std::vector<std::vector<Numbers>> spans = optimal_spans();
    const bool anywhere = facts_.setting.misspecification > 0;
    return backwards(
        [&](Index h, Index pair, const Numbers& next) {
            const Real span = over(spans[at(h + 1)], leads(pair, anywhere));
            return std::min(span * deviation(facts_.set_of(h), pair) + highest(h, pair, next),
                            coupled(h, pair, next));
        },
        &cap);
}

/// [Lemma 4 (ii), (iii)]: what one member may make of the difference of two pairs, of a value in [0,1].
Real Bounds::difference(Index set, Index one, Index other) const {
    const Setting& s = facts_.setting;
    Real least = infinity, farthest = 0;
    for (const Ball& ball : balls_[at(set)]) {
        std::vector<Numbers> generators(at(s.states), Numbers(at(facts_.p), 0));
        std::vector<bool> there(at(s.states), false);
        for (const Index pair : {one, other})
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e) {
                const Numbers w = forward(ball.factor, facts_.psi[at(e)]);
                there[at(s.targets[at(e)])] = true;
                for (std::size_t k = 0; k < w.size(); ++k)
                    generators[at(s.targets[at(e)])][k] += pair == one ? w[k] : -w[k];
            }
        std::vector<Numbers> kept;
        for (std::size_t j = 0; j < generators.size(); ++j)
            if (there[j]) kept.push_back(generators[j]);
        least = std::min(least, ball.about * width_of(kept).upper);
    }
    for (Index i = 0; i < facts_.d; ++i) {
        Numbers off(at(s.states), 0);
        for (const Index pair : {one, other})
            for (Index e = s.offsets[at(pair)]; e < s.offsets[at(pair + 1)]; ++e)
                off[at(s.targets[at(e)])] +=
                    (pair == one ? 1 : -1) * (facts_.phi[at(e)][at(i)] - law_[at(set)][at(e)]);
        Real sum = 0;
        for (const Real each : off) sum += std::abs(each) / 2;
        farthest = std::max(farthest, sum);
    }
    return facts_.setting.base_models ? std::min(least, farthest) : least;
}

Real Bounds::two_chain(const Values& errors) const {
    const Setting& s = facts_.setting;
    const bool anywhere = s.misspecification > 0, all = few_pairs();
    const std::vector<std::vector<Numbers>> spans = optimal_spans();
    std::vector<Numbers> next(at(s.states), Numbers(at(s.states), 0));
    for (Index h = s.horizon - 2; h >= 0; --h) {
        const Index set = facts_.set_of(h);
        const std::vector<Numbers> rows = rows_of_set(set);
        const std::vector<Numbers>& span = spans[at(h + 1)];
        Numbers diagonal;
        for (Index j = 0; j < s.states; ++j) diagonal.push_back(next[at(j)][at(j)]);
        // The larger of `worst` and what two pairs make together; widths only where they can matter.
        const auto raised = [&](Real worst, Index one, Index other) {
            if (one == other) return std::max(worst, highest(h, one, diagonal));
            const std::vector<bool> from_one = leads(one, anywhere), from_other = leads(other, anywhere);
            const Real mine = over(span, from_one), yours = over(span, from_other);
            const Real tau = deviation(set, one), sigma = deviation(set, other);
            const Real rest = coupled_mean(rows[at(one)], rows[at(other)], next) +
                              tau * oscillation(next, from_one, from_other) +
                              sigma * oscillation(next, from_other, from_one);
            const Real apart = mine * tau + yours * sigma;
            if (rest + apart <= worst || balls_.empty()) return std::max(worst, rest + apart);
            std::vector<bool> both = leads(one, false);
            const std::vector<bool> second = leads(other, false);
            for (std::size_t j = 0; j < both.size(); ++j) both[j] = both[j] || second[j];
            const Real shared =
                over(span, both) * difference(set, one, other) + s.misspecification * (mine + yours);
            return std::max(worst, rest + std::min(shared, apart));
        };
        std::vector<Numbers> now = next;
        for (Index x = 0; x < s.states; ++x)
            for (Index y = 0; y <= x; ++y) {
                const Real cut = errors[at(h)][at(x)] + errors[at(h)][at(y)];
                Real worst = all || x == y ? 0 : infinity;
                for (Index a = 0; worst < cut && a < s.actions; ++a)
                    for (Index b = x == y ? a : 0; worst < cut && b < s.actions; ++b)
                        worst = raised(worst, x * s.actions + a, y * s.actions + b);
                now[at(x)][at(y)] = now[at(y)][at(x)] = std::min(worst, cut);
            }
        next = now;
    }
    Real sum = 0;
    for (const auto& [state, probability] : s.start) sum += probability * next[at(state)][at(state)];
    return sum;
}

}  // namespace alidade::referee::detail
