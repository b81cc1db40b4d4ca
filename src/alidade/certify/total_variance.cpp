#include "total_variance.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "alidade/error.hpp"
#include "error_recursion.hpp"
#include "mixture_recursions.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

namespace {

/// From so many pairs on the search for weights stops earlier: some eight recursions instead of twenty-five,
/// and a per cent or two of the bound.
constexpr Index many_pairs = 10'000;

/// A pair counts no more than makes it useless: G = 4 is a deviation of the whole range.
constexpr double most_leverage = 4;

/// The most leverage a policy collects in the model.
double collected_leverage(const LearnedModel& learned, const DivergenceTable& divergences,
                          const RewardCaps& caps, Threads threads) {
    const auto backup = [&](Step h, Index pair, const std::vector<double>& next) {
        const double own = caps.at(h, pair) > 0 ? divergences.at(h, pair) : 0;
        return std::min(most_leverage, own) + learned.model().expect(h, pair, next);
    };
    return start_value(learned, run_backwards(
                                    learned.shape(), threads, [&] { return backup; }, uncapped));
}

void require_parts(const LearnedModel& learned, const DeviationTable& deviations,
                   const DivergenceTable& divergences, const ErrorRecursion& cap) {
    deviations.require_fit(learned);
    divergences.require_fit(learned, Divergence::chi_square);
    expects(learned.mixture() == nullptr || learned.mixture()->misspecification() == 0,
            "the law of total variance is of mixtures; the truth may be {} off its own by the "
            "misspecification",
            learned.mixture()->misspecification());
    require_recursion_of(learned.shape(), cap);
}

}  // namespace

std::vector<double> variance_weights(Index horizon, const TotalVarianceWeights& weights) {
    expects(std::isfinite(weights.variance) && weights.variance > 0,
            "variance weight is {}; must be positive", weights.variance);
    expects(std::isfinite(weights.falling) && weights.falling >= 0,
            "the weights fall by {}; must be at least 0", weights.falling);
    std::vector<double> each;
    const auto first = static_cast<double>(2 * (horizon - 1) - 1);
    for (Step h = 0; h + 1 < horizon; ++h) {
        const auto here = static_cast<double>(2 * (horizon - 1 - h) - 1);
        each.push_back(weights.variance *
                       (weights.falling > 0 ? std::pow(here / first, weights.falling / 2) : 1.0));
    }
    return each;
}

std::vector<double> variance_allowances(Index horizon, const TotalVarianceWeights& weights) {
    const std::vector<double> each = variance_weights(horizon, weights);
    std::vector<double> sums(at(horizon), 0.0);
    for (Step h = horizon - 2; h >= 0; --h) {
        // n^2 - (n-1)^2.
        const auto squares = static_cast<double>(2 * (horizon - 1 - h) - 1);
        sums[at(h)] = sums[at(h + 1)] + squares / (8 * each[at(h)]) * (1 + 1e-15);
    }
    return sums;
}

namespace {

/// The steps of U_h, with those weights.
DescribeStep total_variance_step(const LearnedModel& learned, const DeviationTable& deviations,
                                 const DivergenceTable& divergences, const ErrorRecursion& cap,
                                 const RewardCaps& caps, const TotalVarianceWeights& weights) {
    const double eta = weights.growth;
    expects(caps.of_all_rewards() || weights.falling == 0,
            "the weights fall by {}; of a class of rewards they must not", weights.falling);
    expects(std::isfinite(eta) && eta > 0, "growth is {}; must be positive", eta);
    std::vector<double> powers(at(learned.shape().horizon + 1), 1.0);
    for (std::size_t h = 1; h < powers.size(); ++h) powers[h] = powers[h - 1] * (1 + eta);
    return [&, eta, growing = std::move(powers), each = variance_weights(learned.shape().horizon, weights),
            allowed = variance_allowances(learned.shape().horizon, weights),
            all = caps.of_all_rewards()](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::total_variance;
        step.deviations = deviations.row(h);
        step.divergences = divergences.row(h);
        caps.describe(h, step);
        // tau later^2 / yet is what the range of the variances' sum costs.
        const double later = step.later;
        const double yet = all && later > 0 ? later * later / allowed[at(h + 1)] : 8 * each[at(h)];
        step.variance = {0.5 * each[at(h)] * growing[at(h)], eta, yet * growing[at(h + 1)]};
        step.cap = cap.values.data() + h;
        step.cap_stride = cap.values.rows();
    };
}

/// U_h at one pair after another, for models that are no mixtures of base models.
ErrorRecursion run_pair_by_pair(const LearnedModel& learned, const RewardCaps& caps,
                                const DescribeStep& describe, Threads threads) {
    const Shape& shape = learned.shape();
    std::vector<ErrorStep> steps(at(shape.learned_steps()));
    for (Step h = 0; h < shape.learned_steps(); ++h) describe(h, steps[at(h)]);
    const auto make = [&] {
        return [&, backup = SetBackup(learned)](Step h, Index pair, const std::vector<double>& next) mutable {
            // As ErrorStep::Kind::total_variance has it, for other sets.
            const ErrorStep& step = steps[at(h)];
            const ErrorStep::Variance& given = step.variance;
            const double tau = step.deviations[at(pair)], leverage = step.divergences[at(pair)];
            const double now = std::min(caps.at(h, pair) * tau, given.leverage * leverage);
            const double later = caps.later(h, pair);
            if (later <= 0) return now;
            const double expected = learned.model().expect(h, pair, next);
            const double by_growth = (1 + given.growth) * expected + leverage * later / (4 * given.growth);
            const double yet = tau * later * later / given.yet;
            if (by_growth <= expected + yet) return now + by_growth;
            return now + std::min(by_growth, backup.upper(h, pair, next) + yet);
        };
    };
    const auto cut = [&](Step h, State s) { return steps[at(h)].cap[s * steps[at(h)].cap_stride]; };
    return run_backwards(shape, threads, make, cut);
}

/// Runs the recursion for several weights, all of them at once if an operator does it.
using RunWeights = std::function<std::vector<double>(std::span<const TotalVarianceWeights>)>;

/// Any weights are valid, so the search may be rough. `balance` is its start, which balances (c/2) sum G and
/// (H-1)^2/(8c).
class WeightSearch {
public:
    WeightSearch(Index horizon, const RewardCaps& caps, double square, double balance, const RunWeights& run)
        : horizon_(horizon), falls_(caps.of_all_rewards()), square_(square), balance_(balance), run_(run) {}

    /// One after another, each from the best so far.
    TotalVarianceBound thorough() {
        // Small growths serve where the maximum over the set is near P~, large ones where it is not. As c
        // grows the bound falls to the cap, slowly: from there the search would not come back. What one start
        // leads to may be a valley apart from the lowest, so that a plain grid is tried.
        attempt({{balance_, 1e-4}});
        for (const double falling : {0.0, 1.0}) {
            if (falling > 0 && !falls_) continue;
            for (const double growth : {1e-4, 0.03, 0.5}) {
                std::vector<TotalVarianceWeights> line;
                for (int power = -4; power <= 4; ++power)
                    line.push_back({std::ldexp(balance_, power), growth, falling});
                attempt(line);
            }
        }
        double factor = 2;
        while (factor > 1.02) {
            for (const double by : {factor, 1 / factor})
                while (attempt({scaled(by, 1)})) {
                }
            for (const double by : {factor, 1 / factor})
                while (attempt({scaled(1, by)})) {
                }
            for (const double by : {std::log(factor), -std::log(factor)})
                while (falls_ && attempt({falling_by(by)})) {
                }
            factor = std::sqrt(factor);
        }
        return best_;
    }

    /// Several at once, in a few passes: what a large model is worth. Where the first are above `cap`, the
    /// search would lead to it, slowly, and never below: as c grows U becomes the cap, and all else is
    /// nothing.
    TotalVarianceBound rough(double cap) {
        attempt(falls_
                    ? std::vector<TotalVarianceWeights>{{balance_, 1e-4},
                                                        {balance_, 0.03},
                                                        {balance_, 1e-4, 1},
                                                        {balance_, 0.03, 1},
                                                        {balance_, 0.5, 1}}
                    : std::vector<TotalVarianceWeights>{{balance_, 1e-4}, {balance_, 0.03}, {balance_, 0.5}});
        for (const double factor : {4.0, 2.0, std::sqrt(2.0)}) {
            if (best_.error > 1.1 * cap) break;
            attempt({scaled(factor, 1), scaled(1 / factor, 1), scaled(1, factor), scaled(1, 1 / factor)});
        }
        best_.error = std::min(best_.error, cap);
        return best_;
    }

private:
    TotalVarianceWeights scaled(double variance, double growth) const {
        TotalVarianceWeights weights = best_.weights;
        weights.variance *= variance;
        weights.growth *= growth;
        return weights;
    }

    TotalVarianceWeights falling_by(double more) const {
        TotalVarianceWeights weights = best_.weights;
        weights.falling = std::max(0.0, weights.falling + more);
        return weights;
    }

    /// Whether one of them is better by enough to go on in its direction.
    bool attempt(std::vector<TotalVarianceWeights> weights) {
        const double before = best_.error;
        // What variances cost by themselves may be too much already.
        std::erase_if(weights, [&](const TotalVarianceWeights& each) { return allowance(each) >= before; });
        if (weights.empty()) return false;
        const std::vector<double> values = run_(weights);
        for (std::size_t k = 0; k < weights.size(); ++k) {
            const double found = values[k] + allowance(weights[k]);
            if (found < best_.error) best_ = {found, weights[k]};
        }
        return best_.error < 0.9997 * before;
    }

    /// B_0 [docs/algorithms/likelihood.md, Theorem 8]; of a class all variances together are at most
    /// `square`/4 [docs/algorithms/reward-classes.md].
    double allowance(const TotalVarianceWeights& weights) const {
        if (falls_) return variance_allowances(horizon_, weights).front();
        return square_ / (8 * weights.variance);
    }

    Index horizon_;
    bool falls_;  // whether weights may fall
    double square_, balance_;
    const RunWeights& run_;
    TotalVarianceBound best_{std::numeric_limits<double>::infinity(), {}};
};

TotalVarianceBound search_weights(const LearnedModel& learned, const ErrorRecursion& cap,
                                  const RewardCaps& caps, double leverage, const RunWeights& run) {
    const double square = caps.square_at(learned.model().start());
    if (!(leverage > 0) || !std::isfinite(leverage) || square == 0) return {start_value(learned, cap), {}};
    WeightSearch search(learned.shape().horizon, caps, square, std::sqrt(square) / (2 * std::sqrt(leverage)),
                        run);
    return learned.shape().pairs() > many_pairs ? search.rough(start_value(learned, cap)) : search.thorough();
}

}  // namespace

ErrorRecursion total_variance_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const TotalVarianceWeights& weights, Threads threads) {
    return total_variance_recursion(learned, deviations, divergences, cap,
                                    RewardCaps({learned.shape().horizon, true}), weights, threads);
}

ErrorRecursion total_variance_recursion(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const RewardCaps& caps, const TotalVarianceWeights& weights,
                                        Threads threads) {
    require_parts(learned, deviations, divergences, cap);
    const DescribeStep step = total_variance_step(learned, deviations, divergences, cap, caps, weights);
    return by_operator(learned) ? run_by_operator(learned, threads, step)
                                : run_pair_by_pair(learned, caps, step, threads);
}

TotalVarianceBound total_variance_bound(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        Threads threads) {
    return total_variance_bound(learned, deviations, divergences, cap,
                                RewardCaps({learned.shape().horizon, true}), threads);
}

TotalVarianceBound total_variance_bound(const LearnedModel& learned, const DeviationTable& deviations,
                                        const DivergenceTable& divergences, const ErrorRecursion& cap,
                                        const RewardCaps& caps, Threads threads) {
    require_parts(learned, deviations, divergences, cap);
    if (by_operator(learned)) {
        const LearnedMixture& mixture = learned.as_mixture("an operator");
        return total_variance_bound(mixture, *local_operator(mixture.model().features(), threads), deviations,
                                    divergences, cap, caps);
    }
    const RunWeights run = [&](std::span<const TotalVarianceWeights> weights) {
        std::vector<double> values;
        for (const TotalVarianceWeights& each : weights)
            values.push_back(start_value(learned, total_variance_recursion(learned, deviations, divergences,
                                                                           cap, caps, each, threads)));
        return values;
    };
    return search_weights(learned, cap, caps, collected_leverage(learned, divergences, caps, threads), run);
}

TotalVarianceBound total_variance_bound(const LearnedMixture& learned, const TransitionOperator& passes,
                                        const DeviationTable& deviations, const DivergenceTable& divergences,
                                        const ErrorRecursion& cap, const RewardCaps& caps) {
    require_parts(learned, deviations, divergences, cap);
    const RunWeights run = [&](std::span<const TotalVarianceWeights> weights) {
        std::vector<DescribeStep> steps;
        for (const TotalVarianceWeights& each : weights)
            steps.push_back(total_variance_step(learned, deviations, divergences, cap, caps, each));
        return start_values(learned, passes, steps);
    };
    std::vector<double> masked;
    const DescribeStep capped = [&](Step h, ErrorStep& step) {
        step.kind = ErrorStep::Kind::divergence;
        step.divergences = caps.mask(h, divergences.row(h), masked);
        step.most = most_leverage;
    };
    return search_weights(learned, cap, caps, start_values(learned, passes, {&capped, 1}).front(), run);
}

ErrorRecursion total_variance_errors(const LearnedModel& learned, const DeviationTable& deviations,
                                     const DivergenceTable& divergences, const ErrorRecursion& cap,
                                     const TotalVarianceWeights& weights, Threads threads) {
    ErrorRecursion errors = total_variance_recursion(learned, deviations, divergences, cap, weights, threads);
    const std::vector<double> allowed = variance_allowances(learned.shape().horizon, weights);
    double shrunk = 1;
    for (Step h = 0; h < learned.shape().horizon; ++h, shrunk /= 1 + weights.growth)
        errors.values.row(h).array() += shrunk * allowed[at(h)] * (1 + 1e-12);
    // The recursion is cut at the cap, which is a bound by itself.
    errors.values = errors.values.cwiseMin(cap.values);
    return errors;
}

}  // namespace alidade::detail
