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

Index FitRows::most_successors() const {
    Index most = 0;
    for (const FitRow& row : rows) most = std::max(most, row.successors);
    return most;
}

void FitRows::add_row(const FeatureMap& map, Index pair, std::span<const SeenEntry> here, double elsewhere,
                      std::optional<Step> step) {
    FitRow row{step, pair, size(), size(), elsewhere, elsewhere, map.successors(pair)};
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
}

void FitRows::add(const FeatureMap& map, std::span<const SeenEntry> seen, std::optional<Step> step) {
    features = map.features();
    for_each_seen_pair(map, seen, [&](Index pair, std::span<const SeenEntry> here) {
        if (map.successors(pair) >= 2) add_row(map, pair, here, 0, step);
    });
}

void FitRows::add(const FeatureMap& map, std::span<const SeenEntry> seen,
                  std::span<const SeenEntry> elsewhere, std::optional<Step> step) {
    features = map.features();
    auto other = elsewhere.begin();
    for_each_seen_pair(map, seen, [&](Index pair, std::span<const SeenEntry> here) {
        for (; other != elsewhere.end() && other->entry < pair; ++other)
            add_row(map, other->entry, {}, static_cast<double>(other->count), step);
        const bool both = other != elsewhere.end() && other->entry == pair;
        add_row(map, pair, here, both ? static_cast<double>(other->count) : 0.0, step);
        if (both) ++other;
    });
    for (; other != elsewhere.end(); ++other)
        add_row(map, other->entry, {}, static_cast<double>(other->count), step);
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
