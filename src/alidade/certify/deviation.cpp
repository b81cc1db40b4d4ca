#include "alidade/certify/deviation.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "alidade/error.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/model/tangent_space.hpp"

namespace alidade {

DeviationTable::DeviationTable(const LearnedMixture& learned, const WidthTable& widths)
    : DeviationTable(learned.shape().pairs(), learned.homogeneous(), learned.variations(widths)) {}

DeviationTable::DeviationTable(Index pairs, bool homogeneous, std::vector<double> values)
    : pairs_(pairs), homogeneous_(homogeneous), values_(std::move(values)) {
    expects(pairs >= 1 && values_.size() % alidade::at(pairs) == 0 &&
                (!homogeneous || values_.empty() || values_.size() == alidade::at(pairs)),
            "{} deviations for {} pairs; must be one a pair for every set, and for one set if homogeneous",
            values_.size(), pairs);
    for (const double value : values_) {
        expects(value >= 0 && value <= 1, "deviation is {}; must be from 0 to 1", value);
        zero_ = zero_ && value == 0;
    }
}

DeviationTable DeviationTable::of(const LearnedModel& learned) {
    return DeviationTable(learned.shape().pairs(), learned.homogeneous(), learned.variations());
}

DeviationTable DeviationTable::by_widths(const LearnedModel& learned, const WidthOptions& options,
                                         Threads threads) {
    const LearnedMixture* const mixture = learned.mixture();
    if (mixture == nullptr) return of(learned);
    const FeatureMap& features = mixture->model().features();
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    const std::size_t pairs = alidade::at(features.pairs());
    std::vector<double> values(mixture->sets().size() * pairs);
    // Set by set: nobody asks for the widths of all sets at once, which would take half as much memory as the
    // features [docs/large-models.md].
    WidthTable widths(mixture->sets().empty() ? 0 : 1, features);
    for (std::size_t k = 0; k < mixture->sets().size(); ++k) {
        std::ranges::fill(widths.witness, std::uint8_t{0});
        // The hull of vertices needs no widths.
        if (mixture->sets()[k].vertices() == nullptr)
            bracket_widths(features, tangent, std::span(mixture->sets()).subspan(k, 1), options, threads,
                           widths);
        mixture->variations_of_set(static_cast<Index>(k), widths.upper_of(0), threads,
                                   std::span(values).subspan(k * pairs, pairs));
    }
    return DeviationTable(features.pairs(), mixture->homogeneous(), std::move(values));
}

DeviationTable DeviationTable::without(double misspecification) const {
    std::vector<double> values = values_;
    for (double& value : values) {
        expects(value >= std::min(1.0, misspecification),
                "deviation is {}; it was not widened by the misspecification {}", value, misspecification);
        // Up: what is taken off was rounded when it was added.
        if (value < 1) value = std::min(1.0, (value - misspecification) + 2e-16);
    }
    return DeviationTable(pairs_, homogeneous_, std::move(values));
}

void DeviationTable::require_fit(const LearnedModel& learned) const {
    const Index steps = learned.uncertain_steps();
    expects(pairs_ == learned.shape().pairs() && values_.size() == alidade::at(steps * pairs_) &&
                (homogeneous_ == learned.homogeneous() || steps <= 1),
            "deviations are {} numbers for {} pairs; the learned model has {} uncertain steps of {} pairs",
            values_.size(), pairs_, steps, learned.shape().pairs());
    // A table made without the misspecification would be too small at every pair.
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < pairs_; ++pair)
            expects(at(h, pair) >= learned.row_radius(h, pair),
                    "deviation is {} at step {}, pair {}; must be at least {}, by which the truth may be off "
                    "whatever is learned",
                    at(h, pair), h, pair, learned.row_radius(h, pair));
}

std::span<const double> DeviationTable::row(Step h) const noexcept {
    const Index set = homogeneous_ ? 0 : h;
    return std::span(values_).subspan(static_cast<std::size_t>(set * pairs_),
                                      static_cast<std::size_t>(pairs_));
}

}  // namespace alidade
