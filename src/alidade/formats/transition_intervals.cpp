#include "transition_intervals.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "../model/parallel.hpp"
#include "alidade/confidence/learned_mixture.hpp"

namespace alidade::detail {
namespace {

/// Bounds of theta . direction over a set.
class Bounds {
public:
    Bounds(const ConfidenceSet& set, bool exact) : set_(set) {
        if (exact) solver_.emplace(set.support_function());
    }

    Interval of(std::span<const double> phi) const {
        Interval range = set_.range(phi);
        if (solver_) {
            Vector direction = Eigen::Map<const Vector>(phi.data(), std::ssize(phi));
            range.upper = std::min(range.upper, upper(direction));
            direction = -direction;
            range.lower = std::max(range.lower, -upper(direction));
        }
        // What a reader may lose who adds or prints; the largest and the smallest feature are exact.
        const double rounding = 8 * static_cast<double>(phi.size()) * std::numeric_limits<double>::epsilon();
        range.lower -= rounding;
        range.upper += rounding;
        if (set_.parameters().kind() != ParameterSetKind::simplex) return range;
        const auto [least, most] = std::ranges::minmax(phi);
        return {std::max(range.lower, least), std::min(range.upper, most)};
    }

private:
    double upper(const Vector& direction) const {
        return solver_->bracket({direction.data(), static_cast<std::size_t>(direction.size())}).upper;
    }

    const ConfidenceSet& set_;
    std::optional<SupportFunction> solver_;
};

/// No probability of a row is farther from the learned one than the radius of its ball.
std::vector<Interval> intervals_of_rows(const LearnedModel& learned) {
    const SuccessorMap& successors = learned.model().successors();
    std::vector<Interval> intervals;
    for (Step h = 0; h < learned.uncertain_steps(); ++h)
        for (Index pair = 0; pair < successors.pairs(); ++pair) {
            const double radius = learned.row_radius(h, pair);
            const double off = radius > 0 ? radius + 8 * std::numeric_limits<double>::epsilon() : 0;
            for (const double p : learned.model().probabilities(h, pair))
                intervals.push_back({std::max(0.0, p - off), std::min(1.0, p + off)});
        }
    return intervals;
}

std::vector<Interval> intervals_of_weights(const LearnedMixture& learned, bool exact, Threads threads) {
    const FeatureMap& features = learned.model().features();
    const Index entries = features.entries();
    const double zeta = learned.misspecification();
    std::vector<Interval> intervals(learned.sets().size() * static_cast<std::size_t>(entries));
    for (std::size_t k = 0; k < learned.sets().size(); ++k) {
        const Bounds bounds(learned.sets()[k], exact);
        const std::vector<double> point = learned.model().all_probabilities(static_cast<Step>(k));
        Interval* const out = intervals.data() + k * static_cast<std::size_t>(entries);
        in_chunks(entries, 64, threads, [&](Index first, Index last) {
            for (Index e = first; e < last; ++e) {
                const Interval range = bounds.of(features.phi(e));
                const double p = std::min(point[static_cast<std::size_t>(e)], 1.0);
                const double off = zeta > 0 ? zeta + 4 * std::numeric_limits<double>::epsilon() : 0;
                out[e] = {std::clamp(range.lower - off, 0.0, p), std::clamp(range.upper + off, p, 1.0)};
            }
        });
    }
    return intervals;
}

}  // namespace

std::vector<Interval> transition_intervals(const LearnedModel& learned, bool exact, Threads threads) {
    if (const LearnedMixture* weights = learned.mixture())
        return intervals_of_weights(*weights, exact, threads);
    return intervals_of_rows(learned);
}

}  // namespace alidade::detail
