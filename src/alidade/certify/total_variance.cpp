#include "total_variance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "error_recursion.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

namespace {

/// From so many pairs on the search for weights stops earlier: some eight recursions instead of twenty-five,
/// and a per cent or two of the bound.
constexpr Index many_pairs = 10'000;

/// The most leverage a policy collects in the model, where a pair counts no more than makes it useless:
/// G = 4 is a deviation of the whole range.
double collected_leverage(const LearnedModel& learned, const DivergenceTable& divergences, Threads threads) {
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        return std::min(4.0, divergences.at(h, pair)) + learned.model().expect(h, pair, next);
    };
    return start_value(learned, run_backwards(
                                    learned.shape(), threads, [&] { return backup; }, uncapped));
}

}  // namespace

ErrorRecursion total_variance_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const TotalVarianceWeights& weights, Threads threads) {
    deviations.require_fit(learned);
    divergences.require_fit(learned, Divergence::chi_square);
    require_recursion_of(learned.shape(), cap);
    const double c = weights.variance, eta = weights.growth;
    expects(std::isfinite(c) && c > 0, "variance weight is {}; must be positive", c);
    expects(std::isfinite(eta) && eta > 0, "growth is {}; must be positive", eta);
    const Shape& shape = learned.shape();
    std::vector<double> powers(static_cast<std::size_t>(shape.horizon + 1), 1.0);
    for (std::size_t h = 1; h < powers.size(); ++h) powers[h] = powers[h - 1] * (1 + eta);
    const auto make = [&] {
        return [&, backup = SetBackup(learned)](Step h, Index pair, const std::vector<double>& next) mutable {
            const auto range = static_cast<double>(shape.steps_after(h));
            const double tau = deviations.at(h, pair), leverage = divergences.at(h, pair);
            const auto place = static_cast<std::size_t>(h);
            // sqrt(chi Var) <= (c/2) (1+eta)^h chi + Var / (2c (1+eta)^h). The variances are paid for once,
            // at the start, by the law of total variance [bernstein §4.3].
            const double now = std::min(range * tau, 0.5 * c * powers[place] * leverage);
            // Nothing can differ at the last learned step's successors.
            if (range <= 1) return now;
            const double later = range - 1;
            // P|D| from P~|D|: (P - P~)|D| <= sqrt(chi (n-1) P~|D|) <= eta P~|D| + chi (n-1)/(4 eta).
            const double expected = learned.model().expect(h, pair, next);
            const double by_growth = (1 + eta) * expected + leverage * later / (4 * eta);
            // Or by the maximum over the set; then the variances that are yet to be paid are averaged under
            // P, which costs tau times their range. P~ is a member: where that is too much for it already,
            // the maximum need not be known.
            const double yet = tau * later * later / (8 * c * powers[place + 1]);
            if (by_growth <= expected + yet) return now + by_growth;
            return now + std::min(by_growth, backup.upper(h, pair, next) + yet);
        };
    };
    const auto cut = [&](Step h, State s) { return cap.values(h, s); };
    return run_backwards(shape, threads, make, cut);
}

TotalVarianceBound total_variance_bound(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        Threads threads) {
    deviations.require_fit(learned);
    divergences.require_fit(learned, Divergence::chi_square);
    require_recursion_of(learned.shape(), cap);
    const auto range = static_cast<double>(learned.shape().horizon - 1);
    // Any weights are valid, so the search may be rough. Its start balances (c/2) sum G and (H-1)^2/(8c).
    const double leverage = collected_leverage(learned, divergences, threads);
    TotalVarianceBound best{start_value(learned, cap), {}};
    if (!(leverage > 0) || !std::isfinite(leverage)) return best;
    best.error = std::numeric_limits<double>::infinity();
    const auto attempt = [&](double variance, double growth) {
        const TotalVarianceWeights weights{variance, growth};
        // All variances together are at most (H-1)^2/4 [docs/algorithms/likelihood.md, Lemma 7].
        const double found = start_value(learned, total_variance_recursion(learned, deviations, divergences,
                                                                           cap, weights, threads)) +
                             range * range / (8 * variance);
        const bool worthwhile = found < 0.999 * best.error;
        if (found < best.error) best = {found, weights};
        return worthwhile;
    };
    const double balance = range / (2 * std::sqrt(leverage));
    // Small growths serve where the maximum over the set is near P~, large ones where it is not. As c grows
    // the bound falls to the cap, slowly: from there the search would not come back.
    const bool rough = learned.shape().pairs() > many_pairs;
    for (const double growth : {1e-4, 0.03, 0.5})
        for (const double scale : {0.5, 1.0, 2.0})
            if (!rough || scale == 1.0) attempt(scale * balance, growth);
    double factor = 2;
    while (factor > (rough ? 1.5 : 1.1)) {
        for (const double by : {factor, 1 / factor})
            while (attempt(best.weights.variance * by, best.weights.growth)) {
            }
        for (const double by : {factor, 1 / factor})
            while (attempt(best.weights.variance, best.weights.growth * by)) {
            }
        factor = std::sqrt(factor);
    }
    return best;
}

}  // namespace alidade::detail
