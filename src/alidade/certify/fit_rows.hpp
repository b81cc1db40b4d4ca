#pragma once

#include <optional>
#include <span>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// A pair that was visited, and its part of the items.
struct FitRow {
    std::optional<Step> step;  ///< none where the steps are pooled
    Index pair = 0;
    Index first = 0, last = 0;  ///< its items
    double visits = 0;          ///< those that led elsewhere included
    double elsewhere = 0;       ///< how often it led where no base model leads
    Index successors = 0;       ///< m
};

/// The transitions of one confidence set as a check of the model sees them: an item is a successor that was
/// seen, how often, and its base probabilities f, so that weights theta give it p = theta . f.
struct FitRows {
    Index features = 0;          ///< d
    std::vector<double> phi;     ///< d numbers an item
    std::vector<double> counts;  ///< N >= 1 of each item
    std::vector<double>
        lifted;  ///< ln of what its f was multiplied by, so that no square underflows; mostly 0
    std::vector<bool> informative;  ///< whether its f depends on the base model
    std::vector<Index> entries;     ///< where it is in the map of successors
    std::vector<FitRow> rows;

    Index size() const noexcept { return static_cast<Index>(counts.size()); }
    const double* f(Index item) const noexcept { return phi.data() + item * features; }
    /// theta . f, as it was lifted.
    double predicted(Index item, const Vector& weights) const noexcept {
        const double* const row = f(item);
        double sum = 0;
        for (Index i = 0; i < features; ++i) sum += row[i] * weights[i];
        return sum;
    }
    std::vector<double> predicted(const Vector& weights) const;
    /// How many of the transitions depend on the weights.
    double informative_count() const;
    /// The most successors that a pair has.
    Index most_successors() const;
    /// Appends what was seen at a step, or at all of them. Pairs with one successor are left out: it follows
    /// whatever the weights are.
    void add(const FeatureMap& map, std::span<const SeenEntry> seen, std::optional<Step> step);
    /// The same with what led elsewhere, which any pair may.
    void add(const FeatureMap& map, std::span<const SeenEntry> seen, std::span<const SeenEntry> elsewhere,
             std::optional<Step> step);

private:
    void add_row(const FeatureMap& map, Index pair, std::span<const SeenEntry> here, double elsewhere,
                 std::optional<Step> step);
};

/// ln p of an item whose predicted number is known.
double log_probability(const FitRows& rows, Index item, double predicted);

/// L(theta) = sum of N ln p over all items.
double log_likelihood(const FitRows& rows, std::span<const double> predicted);

}  // namespace alidade::detail
