#include "free_alternatives.hpp"

#include <cmath>
#include <limits>

#include "../convex/accurate_sum.hpp"
#include "../theory/log_gamma.hpp"
#include "../theory/radii.hpp"

namespace alidade::detail {

double log_kt_evidence(const FitRows& rows, std::span<const double> predicted, const LikelihoodFit& fit) {
    AccurateSum sum;
    double size = 0;
    const auto add = [&](double term) {
        sum.add(term);
        size += std::abs(term);
    };
    const double none = log_gamma(0.5);
    for (const FitRow& row : rows.rows) {
        const double half = static_cast<double>(row.successors) / 2;
        add(log_gamma(half));
        add(-log_gamma(row.visits + half));
        for (Index item = row.first; item < row.last; ++item) {
            const double seen = rows.counts[at(item)];
            add(log_gamma(seen + 0.5));
            add(-none);
            add(-seen * log_probability(rows, item, predicted[at(item)]));
            // The probability itself is a sum of d products, and the weights sum to one up to rounding.
            size += seen * static_cast<double>(rows.features);
        }
    }
    // No mixture has a log-likelihood above that of the fit and its gap [likelihood §7].
    return sum.value() - fit.gap - 8 * std::numeric_limits<double>::epsilon() * size;
}

double log_parts_evidence(const FeatureMap& map, const std::vector<std::vector<SeenEntry>>& parts,
                          const LikelihoodRows& all, const LikelihoodFit& fit) {
    // All rows scale the same in numerator and denominator, so that likelihoods of scaled rows may be
    // compared.
    AccurateSum sum;
    double size = 0;
    for (const std::vector<SeenEntry>& part : parts) {
        const LikelihoodRows rows = likelihood_rows(map, part);
        if (rows.size() == 0) continue;
        // The fit is the start: where the parts agree a few steps do.
        const Vector start =
            0.9 * fit.weights + Vector::Constant(map.features(), 0.1 / static_cast<double>(map.features()));
        const LikelihoodFit own = maximise_likelihood(rows, {}, start);
        double observations = 0;
        for (const double count : rows.counts) observations += count;
        sum.add(log_likelihood_ratio(rows, own.weights, fit.weights));
        sum.add(-mixture_regret(observations, map.features()));
        size += observations;
    }
    return sum.value() - fit.gap -
           16 * static_cast<double>(map.features() + all.size()) * std::numeric_limits<double>::epsilon() *
               size;
}

std::vector<std::vector<SeenEntry>> by_action(const SuccessorMap& map, std::span<const SeenEntry> seen) {
    std::vector<std::vector<SeenEntry>> parts(at(map.actions()));
    for (const SeenEntry& one : seen) parts[at(map.pair_of(one.entry) % map.actions())].push_back(one);
    return parts;
}

std::vector<std::vector<SeenEntry>> by_step(const Counts& counts) {
    std::vector<std::vector<SeenEntry>> parts;
    for (Step h = 0; h < counts.shape().learned_steps(); ++h) {
        const auto seen = counts.seen(h);
        parts.emplace_back(seen.begin(), seen.end());
    }
    return parts;
}

}  // namespace alidade::detail
