#include "fit_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../convex/accurate_sum.hpp"
#include "../model/seen_pairs.hpp"

namespace alidade::detail {

std::vector<double> FitRows::predicted(const Vector& weights) const {
    std::vector<double> all(counts.size());
    for (Index item = 0; item < size(); ++item) all[at(item)] = predicted(item, weights);
    return all;
}

double FitRows::informative_count() const {
    double sum = 0;
    for (std::size_t item = 0; item < counts.size(); ++item)
        if (informative[item]) sum += counts[item];
    return sum;
}

void FitRows::add(const FeatureMap& map, std::span<const SeenEntry> seen, std::optional<Step> step) {
    features = map.features();
    for_each_seen_pair(map, seen, [&](Index pair, std::span<const SeenEntry> here) {
        if (map.successors(pair) < 2) return;
        FitRow row{step, pair, size(), size(), 0, map.successors(pair)};
        for (const auto& [entry, count] : here) {
            const auto values = map.phi(entry);
            const double largest = std::ranges::max(values);
            const int exponent = largest < 1e-60 ? -std::ilogb(largest) : 0;
            for (const double value : values) phi.push_back(exponent == 0 ? value : std::ldexp(value, exponent));
            counts.push_back(static_cast<double>(count));
            lifted.push_back(exponent * std::numbers::ln2);
            informative.push_back(std::ranges::any_of(values, [&](double value) { return value != values[0]; }));
            entries.push_back(entry);
            row.visits += static_cast<double>(count);
        }
        row.last = size();
        rows.push_back(row);
    });
}

double log_probability(const FitRows& rows, Index item, double predicted) {
    return std::log(predicted) - rows.lifted[at(item)];
}

double log_likelihood(const FitRows& rows, std::span<const double> predicted) {
    AccurateSum sum;
    for (Index item = 0; item < rows.size(); ++item)
        sum.add(rows.counts[at(item)] * log_probability(rows, item, predicted[at(item)]));
    return sum.value();
}

}  // namespace alidade::detail
