#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/confidence/confidence_set.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// What is needed of one step to compare what its pairs' laws may be off by.
class PairDifferences {
public:
    /// It reads the model, which must outlive it.
    PairDifferences(const LearnedModel& learned, Step h);

    /// Whether one member is behind all pairs; otherwise nothing is known but what is known of each.
    bool shared() const noexcept { return set_ != nullptr; }

private:
    friend class DifferenceWidths;
    const FeatureMap* features_ = nullptr;
    const ConfidenceSet* set_ = nullptr;
    Index dimension_ = 0;
    double radius_ = 0;
    std::vector<double> generators_;  // entries x p: w_j in the metric of the set
    std::vector<double> off_;  // entries x d: P_i - P~, of base models; x vertices where there are some
    Index corners_ = 0;        // d, or the vertices; 0 where there are neither
    double slack_ = 0;         // of the vertices
};

/// The most that (P - P~) at one pair less that at another can be of a function in [0,1], for one member of
/// the set: [docs/algorithms/two-chains.md, Lemma 4], from above. With scratch memory: one for
/// each thread.
class DifferenceWidths {
public:
    DifferenceWidths();

    /// By one eigenvalue and the corners: cheap.
    double quick(const PairDifferences& step, Index one, Index other);
    /// The same by signs where they are few, else by a better eigenvalue; never above `quick`.
    double refined(const PairDifferences& step, Index one, Index other);
    /// The same by signs where that is bearable; never above `refined`.
    double exact(const PairDifferences& step, Index one, Index other);

private:
    void join(const PairDifferences& step, Index one, Index other);
    double by_corners(const PairDifferences& step) const;
    void measure(const PairDifferences& step);
    double by_signs(const PairDifferences& step, Width& width);
    bool few_signs(const PairDifferences& step) const noexcept;
    double by_moment(const PairDifferences& step, std::span<const double> y);
    double largest_share(std::size_t p);
    void lengths_along(const PairDifferences& step, double share);

    struct Place {
        Index one, other;  // entries; -1 where the pair does not lead there
    };
    std::vector<Place> places_;
    std::vector<double> generators_, norms_, along_, axis_, sum_;
    std::vector<double> moment_, square_;  // p x p
    std::vector<std::uint8_t> witness_;
    Width oracle_, search_;
};

}  // namespace alidade::detail
