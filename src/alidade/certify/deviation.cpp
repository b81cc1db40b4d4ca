#include "alidade/certify/deviation.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

namespace {

/// max over base models of TV(P_i, P~): TV is convex in the weights, so no mixture is farther.
double farthest_base_model(const FeatureMap& features, Index pair, std::span<const double> model) {
    const Index d = features.features(), first = features.first_entry(pair);
    double largest = 0;
    for (Index i = 0; i < d; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < model.size(); ++j)
            sum +=
                std::abs(features.phi(first + static_cast<Index>(j))[static_cast<std::size_t>(i)] - model[j]);
        largest = std::max(largest, sum / 2);
    }
    return largest;
}

}  // namespace

DeviationTable::DeviationTable(const LearnedModel& learned, const WidthTable& widths)
    : pairs_(learned.shape().pairs()), homogeneous_(learned.homogeneous()) {
    const FeatureMap& features = learned.model().features();
    const auto sets = static_cast<Index>(learned.sets().size());
    expects(widths.sets == sets && widths.pairs == pairs_,
            "the width table belongs to another learned model");
    values_.reserve(static_cast<std::size_t>(sets * pairs_));
    for (Index set = 0; set < sets; ++set) {
        const double radius = learned.sets()[static_cast<std::size_t>(set)].refined_radius();
        const std::span<const double> upper = widths.upper_of(set);
        for (Index pair = 0; pair < pairs_; ++pair) {
            double bound = std::min(1.0, radius * upper[static_cast<std::size_t>(pair)]);
            if (bound > 0 && features.kind() == FeatureKind::base_models)
                bound = std::min(
                    bound, farthest_base_model(features, pair, learned.model().probabilities(set, pair)));
            bound = std::min(1.0, bound + learned.misspecification());
            zero_ = zero_ && bound == 0;
            values_.push_back(bound);
        }
    }
}

DeviationTable::DeviationTable(Index pairs, bool homogeneous, std::vector<double> values)
    : pairs_(pairs), homogeneous_(homogeneous), values_(std::move(values)) {
    for (const double value : values_) {
        expects(value >= 0 && value <= 1, "deviation is {}; must be from 0 to 1", value);
        zero_ = zero_ && value == 0;
    }
}

std::span<const double> DeviationTable::row(Step h) const noexcept {
    const Index set = homogeneous_ ? 0 : h;
    return std::span(values_).subspan(static_cast<std::size_t>(set * pairs_),
                                      static_cast<std::size_t>(pairs_));
}

}  // namespace alidade
