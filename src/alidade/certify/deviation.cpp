#include "alidade/certify/deviation.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/width/width.hpp"

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

DeviationTable DeviationTable::by_eigenvalues(const LearnedModel& learned) {
    const FeatureMap& features = learned.model().features();
    WidthTable widths(static_cast<Index>(learned.sets().size()), features);
    const std::vector<std::uint8_t> witness(static_cast<std::size_t>(features.max_successors()), 0);
    std::vector<double> generators;
    for (Index set = 0; set < widths.sets; ++set) {
        const ConfidenceSet& members = learned.sets()[static_cast<std::size_t>(set)];
        const Matrix basis = members.parameters().space().basis.transpose();
        const Matrix map = members.estimate().inverse_factor.lazyProduct(basis);
        const Index p = map.rows(), d = map.cols();
        if (p == 0) continue;
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            const Index first = features.first_entry(pair), m = features.successors(pair);
            generators.assign(static_cast<std::size_t>(m * p), 0.0);
            for (Index j = 0; j < m; ++j)
                for (Index i = 0; i < d; ++i)
                    for (Index k = 0; k < p; ++k)
                        generators[static_cast<std::size_t>(j * p + k)] +=
                            map(k, i) * features.phi(first + j)[static_cast<std::size_t>(i)];
            widths.upper[static_cast<std::size_t>(set * features.pairs() + pair)] =
                eigenvalue_bound({generators, p, m}, std::span(witness).first(static_cast<std::size_t>(m)));
        }
    }
    return DeviationTable(learned, widths);
}

std::span<const double> DeviationTable::row(Step h) const noexcept {
    const Index set = homogeneous_ ? 0 : h;
    return std::span(values_).subspan(static_cast<std::size_t>(set * pairs_),
                                      static_cast<std::size_t>(pairs_));
}

}  // namespace alidade
