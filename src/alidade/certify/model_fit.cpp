#include "alidade/certify/model_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "../confidence/likelihood_sets.hpp"
#include "../estimate/maximum_likelihood.hpp"
#include "../model/seen_pairs.hpp"
#include "../theory/log_gamma.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double unit = std::numeric_limits<double>::epsilon();
constexpr double least_product = 1e-280;  // sums of products above it have all their digits

/// A sum of logarithms of both signs, and how large its terms were: what their digits leave open.
struct LogSum {
    double value = 0;
    double size = 0;
    void add(double term) {
        value += term;
        size += std::abs(term);
    }
};

/// What a predictor's probabilities over those of the fit come to, over all pairs, and the worst of them.
struct Tally {
    LogSum sum;
    std::optional<Misfit> worst;
};

/// theta~ . f of an entry, and its logarithm, which is accurate also where the product is not: near the least
/// number there is, f is multiplied by a power of two.
struct Predicted {
    double probability = 0, logarithm = 0;
};

double product(std::span<const double> phi, const Vector& weights, int exponent) {
    double sum = 0;
    for (Index i = 0; i < weights.size(); ++i)
        sum += weights[i] * (exponent == 0 ? phi[at(i)] : std::ldexp(phi[at(i)], exponent));
    return sum;
}

Predicted predicted(const FeatureMap& features, Index entry, const Vector& weights) {
    const auto phi = features.phi(entry);
    const double sum = product(phi, weights, 0);
    if (sum > least_product) return {sum, std::log(sum)};
    const int exponent = -std::ilogb(std::ranges::max(phi));
    return {sum, std::log(product(phi, weights, exponent)) - exponent * std::numbers::ln2};
}

/// ln KT - sum n ln(theta~ . f) of one pair, of which `here` was seen.
void add_pair(const FeatureMap& features, Index pair, std::span<const SeenEntry> here, const Vector& weights,
              std::optional<Step> step, Tally& tally) {
    const Index m = features.successors(pair);
    std::int64_t visits = 0;
    for (const SeenEntry& one : here) visits += one.count;
    // With one successor both predictors give it probability 1.
    if (m == 1) return;
    const double half = static_cast<double>(m) / 2, n = static_cast<double>(visits);
    LogSum sum;
    sum.add(detail::log_gamma(half));
    sum.add(-detail::log_gamma(n + half));
    Misfit misfit{step, pair / features.actions(), pair % features.actions(), 0, visits};
    double surplus = -std::numeric_limits<double>::infinity();
    for (const auto& [entry, count] : here) {
        const auto seen = static_cast<double>(count);
        const auto [probability, logarithm] = predicted(features, entry, weights);
        sum.add(detail::log_gamma(seen + 0.5));
        sum.add(-detail::log_gamma(0.5));
        sum.add(-seen * logarithm);
        // The probability itself is a sum of d products, and the weights sum to one up to rounding.
        sum.size += seen * static_cast<double>(weights.size());
        const double excess = probability > least_product ? seen * std::log(seen / (n * probability))
                                                          : seen * (std::log(seen / n) - logarithm);
        if (excess <= surplus) continue;
        surplus = excess;
        misfit.successor = features.targets()[at(entry)];
        misfit.seen = count;
        misfit.expected = n * probability;
    }
    misfit.log_evidence = sum.value;
    tally.sum.value += sum.value;
    tally.sum.size += sum.size + std::abs(tally.sum.value);
    if (!tally.worst || misfit.log_evidence > tally.worst->log_evidence) tally.worst = misfit;
}

void add_pairs(const FeatureMap& features, std::span<const SeenEntry> seen, const Vector& weights,
               std::optional<Step> step, Tally& tally) {
    detail::for_each_seen_pair(features, seen, [&](Index pair, std::span<const SeenEntry> here) {
        add_pair(features, pair, here, weights, step, tally);
    });
}

/// ln E, at most: rounding must not make evidence.
double log_evidence(const Tally& tally, const detail::LikelihoodFit& fit) {
    // No mixture has a log-likelihood above L(theta~) + gap, so this is below the ratio to the true one,
    // which is a martingale from 1 if the truth is a mixture [likelihood §7].
    return tally.sum.value - fit.gap - 8 * unit * tally.sum.size;
}

/// The mean of two products of one and the same set.
double log_mean(double one, double other) {
    // A mean of two martingales from 1 is one; the larger of the two is not. The larger exponential is taken
    // out, so that none overflows.
    return std::max(one, other) + std::log1p(std::exp(-std::abs(one - other))) - std::log(2.0);
}

void take_worst(const std::optional<Misfit>& candidate, std::optional<Misfit>& worst) {
    if (candidate && (!worst || candidate->log_evidence > worst->log_evidence)) worst = candidate;
}

void check_pooled(const FeatureMap& features, const Counts& counts, const detail::LikelihoodFit& fit,
                  ModelFit& result) {
    Tally apart, together;
    for (Step h = 0; h < counts.shape().learned_steps(); ++h)
        add_pairs(features, counts.seen(h), fit.weights, h, apart);
    add_pairs(features, counts.pooled(), fit.weights, std::nullopt, together);
    const double one = log_evidence(apart, fit), other = log_evidence(together, fit);
    result.sets.push_back(log_mean(one, other));
    take_worst(one > other ? apart.worst : together.worst, result.worst);
}

}  // namespace

ModelFit check_model(const FeatureMap& features, const Counts& counts, bool homogeneous, double level) {
    expects(level > 0 && level < 1, "level is {}; must be greater than 0 and less than 1", level);
    const std::vector<detail::LikelihoodRows> rows = detail::likelihood_rows(features, counts, homogeneous);
    ModelFit result;
    result.level = level;
    // Ville's inequality for each set, and a union over the sets.
    result.threshold = std::log(static_cast<double>(std::max<std::size_t>(1, rows.size())) / level);
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const detail::LikelihoodFit fit = detail::maximise_likelihood(rows[k]);
        if (homogeneous) {
            check_pooled(features, counts, fit, result);
            continue;
        }
        Tally tally;
        const auto step = static_cast<Step>(k);
        add_pairs(features, counts.seen(step), fit.weights, step, tally);
        result.sets.push_back(log_evidence(tally, fit));
        take_worst(tally.worst, result.worst);
    }
    if (!result.sets.empty()) result.log_evidence = *std::ranges::max_element(result.sets);
    result.contradicted = result.log_evidence >= result.threshold;
    return result;
}

}  // namespace alidade
