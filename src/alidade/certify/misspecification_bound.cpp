#include "alidade/certify/misspecification_bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "../convex/accurate_sum.hpp"
#include "../estimate/maximum_likelihood.hpp"
#include "../theory/log_gamma.hpp"
#include "../theory/radii.hpp"
#include "alidade/confidence/bets.hpp"
#include "alidade/error.hpp"
#include "fit_rows.hpp"
#include "following_alternatives.hpp"
#include "profile_likelihood.hpp"

namespace alidade {

namespace {

using detail::FitRow;
using detail::FitRows;

constexpr double share_elsewhere = 0.01;  // what predictors expect to lead elsewhere, where that is possible
constexpr double least_zeta = 1e-4;       // less is not looked for
constexpr double finest = 1.02;           // the bisection ends at this ratio

/// Rows that a set's laws are claimed for, and the predictor's probability of them, from below.
struct ProfiledSet {
    std::optional<Step> step;
    FitRows rows;
    detail::LikelihoodFit fit;
    double log_likelihood = 0;  ///< of the fit; minus infinity where something led elsewhere
    double log_predicted = 0;   ///< ln Q, at most
};

/// ln of rows(alpha)'s probability of what was seen: a product of alpha p (1 - eta) + i over alpha + i, which
/// are linear in the weights.
double log_rows_predicted(const FitRows& rows, double alpha, double eta, std::span<const double> predicted) {
    detail::AccurateSum sum;
    double size = 0;
    const auto add = [&](double term) {
        sum.add(term);
        size += std::abs(term);
    };
    const double before = detail::log_gamma(alpha);
    for (const FitRow& row : rows.rows) {
        add(before);
        add(-detail::log_gamma(alpha + row.visits));
        if (row.elsewhere > 0) {
            add(detail::log_gamma(alpha * eta + row.elsewhere));
            add(-detail::log_gamma(alpha * eta));
        }
        for (Index item = row.first; item < row.last; ++item) {
            const double n = rows.counts[at(item)], y = alpha * (1 - eta) * predicted[at(item)];
            if (rows.lifted[at(item)] != 0) {
                add(std::log(y) - rows.lifted[at(item)]);
                add(detail::log_gamma(n));  // at most what it is
            } else {
                add(detail::log_gamma(y + n));
                add(-detail::log_gamma(y));
                size += n;  // of the error of y
            }
        }
    }
    return sum.value() - 16 * std::numeric_limits<double>::epsilon() * size;
}

double log_kt_predicted(const FitRows& rows, Index beside) {
    detail::AccurateSum sum;
    double size = 0;
    const auto add = [&](double term) {
        sum.add(term);
        size += std::abs(term);
    };
    const double none = detail::log_gamma(0.5);
    for (const FitRow& row : rows.rows) {
        const double half = static_cast<double>(row.successors + beside) / 2;
        add(detail::log_gamma(half));
        add(-detail::log_gamma(row.visits + half));
        if (row.elsewhere > 0) add(detail::log_gamma(row.elsewhere + 0.5) - none);
        for (Index item = row.first; item < row.last; ++item)
            add(detail::log_gamma(rows.counts[at(item)] + 0.5) - none);
    }
    return sum.value() - 16 * std::numeric_limits<double>::epsilon() * size;
}

/// ln Q: the mean of predictors that are fixed beforehand. Those about the mixtures are averaged over the
/// weights, which costs no more than the regret.
double log_predictor(const FitRows& rows, const detail::LikelihoodFit& fit, bool counts_elsewhere) {
    const std::vector<double> predicted = rows.predicted(fit.weights);
    const double regret = detail::mixture_regret(rows.informative_count(), rows.features);
    const bool any = std::ranges::any_of(rows.rows, [](const FitRow& row) { return row.elsewhere > 0; });
    // Where laws may lead elsewhere there are as many predictors that expect it.
    const double kinds = counts_elsewhere ? 2 : 1;
    const double predictors = kinds * static_cast<double>(detail::concentrations.size()) + 1;
    std::vector<double> logs{log_kt_predicted(rows, counts_elsewhere ? 1 : 0)};
    for (const double alpha : detail::concentrations)
        logs.push_back(log_rows_predicted(rows, alpha, any ? share_elsewhere : 0.0, predicted) - regret);
    const double largest = std::ranges::max(logs);
    double sum = 0;
    for (const double one : logs) sum += std::exp(one - largest);
    return largest + std::log(sum) - std::log(predictors) - 1e-12;
}

std::vector<ProfiledSet> profiled_sets(const FeatureMap& features, const Counts& counts, bool homogeneous) {
    expects(counts.over(features), "counts are of other successors than the features'");
    const Index steps = counts.shape().learned_steps();
    std::vector<ProfiledSet> sets;
    for (Step h = 0; h < steps; ++h) {
        // Laws may differ from step to step, though the weights do not: rows are never pooled.
        if (h == 0 || !homogeneous) sets.emplace_back();
        sets.back().rows.add(features, counts.seen(h), counts.elsewhere(h), h);
        if (!homogeneous) sets.back().step = h;
    }
    for (std::size_t k = 0; k < sets.size(); ++k) {
        ProfiledSet& set = sets[k];
        const auto rows = homogeneous ? detail::likelihood_rows(features, counts.pooled())
                                      : detail::likelihood_rows(features, counts.seen(*set.step));
        set.fit = detail::maximise_likelihood(rows);
        set.log_likelihood = detail::log_likelihood(set.rows, set.rows.predicted(set.fit.weights));
        set.log_predicted = log_predictor(set.rows, set.fit, counts.counts_elsewhere());
    }
    return sets;
}

/// Whether the data of a set refute that every law is within zeta of some mixture.
bool refuted(const ProfiledSet& set, double zeta, double threshold) {
    const double needed = threshold - set.log_predicted;  // of minus the largest profile likelihood
    if (zeta == 0) {
        for (const FitRow& row : set.rows.rows)
            if (row.elsewhere > 0) return true;
        const double slack = 64 * std::numeric_limits<double>::epsilon() * std::abs(set.log_likelihood);
        return -set.log_likelihood - set.fit.gap - slack >= needed;
    }
    const detail::NegativeProfile profile(set.rows, zeta);
    const detail::SimplexMinimum found =
        detail::minimise(profile, set.fit.weights, {.tolerance = 0.05, .steps = 40, .enough = needed});
    return found.lower >= needed;
}

/// The largest zeta, to the finest ratio, that is refuted; at least `first`, which is.
double largest_refuted(double first, const std::function<bool(double)>& refuted_at) {
    double low = first, high = 1;
    while (high / low > finest) {
        const double middle = std::sqrt(low * high);
        (refuted_at(middle) ? low : high) = middle;
    }
    return low;
}

/// By bets, of laws that may vary: where no weights are left that are within zeta.
void refute_by_bets(const FeatureMap& features, const Counts& counts, bool homogeneous, double level,
                    const std::vector<ProfiledSet>& sets, MisspecificationBound& bound) {
    if (sets.empty()) return;
    const std::vector<BetTable> tables = bet_tables(features, BetDesign(features), counts, homogeneous);
    for (std::size_t k = 0; k < tables.size(); ++k) {
        const double allowance = bet_allowance(std::ssize(tables), tables[k].bets(), level);
        const auto empty = [&](double zeta) {
            return !VertexSet::of(bet_half_spaces(tables[k], zeta, allowance, sets[k].fit.weights));
        };
        const double first = std::max(bound.varying, least_zeta);
        if (!empty(first)) continue;
        bound.varying = largest_refuted(first, empty);
        if (bound.varying > bound.lower) {
            bound.lower = bound.varying;
            bound.step = sets[k].step;
        }
    }
}

}  // namespace

MisspecificationBound misspecification_lower(const FeatureMap& features, const Counts& counts,
                                             bool homogeneous, double level) {
    expects(level > 0 && level < 1, "level is {}; must be greater than 0 and less than 1", level);
    const std::vector<ProfiledSet> sets = profiled_sets(features, counts, homogeneous);
    MisspecificationBound bound;
    bound.level = level;
    // Ville's inequality for each set, and a union over the sets; the other half of the level is for the
    // bets.
    const double threshold = std::log(2 * static_cast<double>(std::max<std::size_t>(1, sets.size())) / level);
    for (const ProfiledSet& set : sets) {
        // What is refuted is refuted for all that is less; a set that refutes no more than another adds
        // nothing.
        const double first = std::max(bound.lower, least_zeta);
        if (!refuted(set, 0, threshold) || !refuted(set, first, threshold)) continue;
        bound.lower = largest_refuted(first, [&](double zeta) { return refuted(set, zeta, threshold); });
        bound.step = set.step;
    }
    refute_by_bets(features, counts, homogeneous, level / 2, sets, bound);
    return bound;
}

}  // namespace alidade
