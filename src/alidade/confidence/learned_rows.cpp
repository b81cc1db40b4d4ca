#include "alidade/confidence/learned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double distance_tolerance = 1e-9;  // of a truth's distances

/// At least the rounding of a sum of that many products with probabilities, all at most one in size.
double rounding_of_sum(std::size_t terms) {
    return 4 * static_cast<double>(terms + 4) * std::numeric_limits<double>::epsilon();
}

/// No law on the successors is farther from the row: that with all its mass where the row has the least.
double farthest_law(std::span<const double> row) {
    if (row.size() == 1) return 0;
    return std::min(1.0, 1 - std::ranges::min(row) + rounding_of_sum(row.size()));
}

/// Total variation between both rows; infinite if the truth leads where the model cannot.
double row_distance(const TransitionModel& model, const TransitionModel& truth, Step h, Index pair) {
    const SuccessorMap& places = truth.successors();
    const auto law = model.probabilities(h, pair), other = truth.probabilities(h, pair);
    const auto targets = places.targets(pair);
    const Index first = model.successors().first_entry(pair);
    double common = 0, outside = 0;
    for (std::size_t j = 0; j < other.size(); ++j) {
        const Index entry = model.successors().find_entry(pair, targets[j]);
        if (entry < 0)
            outside += other[j];
        else
            common += std::min(other[j], law[at(entry - first)]);
    }
    // No radius allows for what is outside: the balls are of laws on the successors
    // [docs/algorithms/rows.md].
    return outside > distance_tolerance ? std::numeric_limits<double>::infinity() : std::max(0.0, 1 - common);
}

/// Any law of the ball is P~ less some mass m <= P~ plus as much mass g elsewhere, |m| = |g| <= r. So its
/// expectation is at most that with g on the largest value, m from the smallest ones upwards, and |m| = r:
/// no value is above the largest, so that moving more never lessens it. That law is in the ball. The smallest
/// expectation is the same of minus the value.
class RowExpectations final : public ExpectationBounds {
public:
    explicit RowExpectations(const LearnedRows& learned)
        : learned_(learned), successors_(learned.model().successors()) {}

    Interval operator()(Step h, Index pair, std::span<const double> value) override {
        if (h + 1 >= learned_.shape().horizon) return {0, 0};
        const auto law = learned_.model().probabilities(h, pair);
        const auto targets = successors_.targets(pair);
        order_.clear();
        double sum = 0;
        for (std::size_t j = 0; j < law.size(); ++j) {
            order_.emplace_back(value[at(targets[j])], law[j]);
            sum += law[j];
        }
        std::ranges::sort(order_);
        const double least = order_.front().first, most = order_.back().first;
        const double radius = learned_.radius(h, pair);
        const double upper = moved(order_.begin(), order_.end(), radius, most);
        const double lower = moved(order_.rbegin(), order_.rend(), radius, least);
        // The learned row sums to one up to rounding only. Each product may also have been rounded by the
        // least number there is: zero must be a proof.
        const double slack =
            (rounding_of_sum(law.size()) + std::abs(1 - sum)) * std::max(std::abs(least), std::abs(most)) +
            static_cast<double>(law.size()) * std::numeric_limits<double>::denorm_min();
        // No mean of values leaves their range, however it was rounded.
        return {std::max(least, lower - slack), std::min(most, upper + slack)};
    }

private:
    /// The expectation when mass is taken from the first ones and put where the value is `to`.
    template <class Iterator>
    static double moved(Iterator first, Iterator last, double mass, double to) {
        double sum = 0, rest = mass;
        for (; first != last; ++first) {
            const double taken = std::min(rest, first->second);
            rest -= taken;
            sum += (first->second - taken) * first->first;
        }
        return sum + (mass - rest) * to;
    }

    const LearnedRows& learned_;
    const SuccessorMap& successors_;
    std::vector<std::pair<double, double>> order_;  // (value, probability), the smallest value first
};

}  // namespace

LearnedRows::LearnedRows(TransitionModel model, bool homogeneous, std::vector<double> radii, double delta)
    : LearnedModel(homogeneous, delta), model_(std::move(model)), radii_(std::move(radii)) {
    const Index pairs = shape().pairs(), steps = confidence_sets(shape().horizon, homogeneous);
    expects(radii_.size() == at(steps * pairs),
            "{} radii; must be {}: one for each of {} pairs at {} uncertain steps", radii_.size(),
            steps * pairs, pairs, steps);
    expects(!homogeneous || shape().horizon == 1 || model_.homogeneous(),
            "one uncertainty for all steps, but the model has rows of its own at each step");
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < pairs; ++pair) {
            double& radius = radii_[at(h * pairs + pair)];
            expects(radius >= 0 && radius <= 1,
                    "radius is {} at step {}, state {}, action {}; must be from 0 to 1", radius, h,
                    pair / shape().actions, pair % shape().actions);
            const auto row = model_.probabilities(h, pair);
            double sum = 0;
            for (const double probability : row) sum += probability;
            // The models' own tolerance is for what files say; here it would be uncertainty, and of H steps.
            expects(
                std::abs(sum - 1) <= rounding_of_sum(row.size()),
                "the learned row at step {}, state {}, action {} sums to {:.16g}; must be 1 up to rounding",
                h, pair / shape().actions, pair % shape().actions, sum);
            radius = std::min(radius, farthest_law(row));
        }
}

std::unique_ptr<ExpectationBounds> LearnedRows::expectations(WorstCase) const {
    return std::make_unique<RowExpectations>(*this);
}

std::string LearnedRows::divergence_refusal() const {
    return "rows in total-variation balls bound no divergence";
}

std::vector<double> LearnedRows::divergences(Divergence, Threads) const {
    throw InvalidArgument(divergence_refusal());
}

double LearnedRows::depth(const TransitionModel& truth) const {
    require_shape_of(truth);
    double deepest = 0;
    for (Step h = 0; h + 1 < shape().horizon; ++h)
        for (Index pair = 0; pair < shape().pairs(); ++pair) {
            const double distance = row_distance(model_, truth, h, pair), allowed = radius(h, pair);
            // What is known is known up to rounding.
            if (distance <= distance_tolerance && allowed == 0) continue;
            deepest = std::max(deepest, distance / allowed);
        }
    return deepest;
}

bool LearnedRows::contains(const TransitionModel& truth) const {
    require_shape_of(truth);
    for (Step h = 0; h + 1 < shape().horizon; ++h)
        for (Index pair = 0; pair < shape().pairs(); ++pair)
            if (row_distance(model_, truth, h, pair) > radius(h, pair) + distance_tolerance) return false;
    return true;
}

}  // namespace alidade
