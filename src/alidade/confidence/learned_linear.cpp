#include "alidade/confidence/learned_linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {

struct LearnedLinear::Parts {
    std::vector<double> probabilities, radii, bonuses;
};

namespace {

constexpr double rounding_unit = std::numeric_limits<double>::epsilon();
/// Of what rounding may do to sums of numbers of size one; far below anything that data can show.
constexpr double contradiction_tolerance = 1e-9;

void check_estimates(const Task& task, const std::vector<LinearEstimate>& estimates) {
    expects(task.linear != nullptr, "the task has no features of pairs");
    const Index d = task.linear->features(), sets = confidence_sets(task.horizon, task.homogeneous);
    expects(static_cast<Index>(estimates.size()) == sets, "{} regressions; must be {}", estimates.size(),
            sets);
    for (const LinearEstimate& estimate : estimates) {
        expects(estimate.measures.rows() == d && estimate.measures.cols() == task.linear->states() &&
                    estimate.inverse_factor.rows() == d && estimate.inverse_factor.cols() == d,
                "a regression of {} features and {} states; must be of {} and {}", estimate.measures.rows(),
                estimate.measures.cols(), d, task.linear->states());
        expects(estimate.radius >= 0 && std::isfinite(estimate.radius) && estimate.measures.allFinite() &&
                    estimate.inverse_factor.allFinite(),
                "a regression is not finite; its radius is {}", estimate.radius);
    }
}

/// The law that is handed over, and its distance from every possible truth.
class RowMaker {
public:
    RowMaker(const PairFeatures& features, const LinearEstimate& estimate)
        : features_(features), estimate_(estimate) {
        for (Index s = 0; s < features.states(); ++s) sizes_ += estimate.measures.col(s).norm();
    }

    /// Appends the pair's law; returns u. Pairs come in their order.
    double append(Step h, Index pair, std::vector<double>& probabilities) {
        if (pair % together == 0) multiply(pair);
        const auto phi = features_.phi(pair);
        raw_ = rows_.col(pair % together).data();
        const auto d = static_cast<double>(features_.features()), m = static_cast<double>(features_.states());
        // The products are rounded; what they make is used as if it were exact.
        const double u = estimate_.radius * scaled_.col(pair % together).norm() +
                         (d + m + 8) * rounding_unit * (1 + phi.norm() * sizes_);
        require_possible(h, pair, u);
        const auto targets = features_.targets(pair);
        double sum = 0;
        for (const std::int32_t target : targets) sum += std::max(0.0, raw_[target]);
        // Nothing is left where u >= 1 only, as has been seen: then any law will do.
        const double even = 1 / static_cast<double>(targets.size());
        for (const std::int32_t target : targets)
            probabilities.push_back(sum > 0 ? std::max(0.0, raw_[target]) / sum : even);
        return sum > 0 ? u : std::max(1.0, u);
    }

private:
    static constexpr Index together = 64;  // pairs: one product of matrices is faster than many of vectors

    void multiply(Index first) {
        const auto phi = features_.matrix().middleCols(first, std::min(together, features_.pairs() - first));
        rows_.noalias() = estimate_.measures.transpose() * phi;
        scaled_.noalias() = estimate_.inverse_factor * phi;
    }

    /// A law P on the successors with (phi . mu^ - P) V within u for all V exists iff the sums of positive
    /// and of negative parts can both be at most u. The nearest law takes what is too much from the positive
    /// mass, or adds what it lacks; neither sum can be less.
    void require_possible(Step h, Index pair, double u) const {
        double positive = 0, negative = 0, inside = 0;
        for (State s = 0; s < features_.states(); ++s) {
            positive += std::max(0.0, raw_[s]);
            negative -= std::min(0.0, raw_[s]);
        }
        for (const std::int32_t target : features_.targets(pair)) inside += std::max(0.0, raw_[target]);
        const double worst =
            std::max(positive - inside + std::max(0.0, inside - 1), negative + std::max(0.0, 1 - inside));
        if (worst <= u + contradiction_tolerance) return;
        throw ModelContradiction(fmt::format(
            "step {}, state {}, action {}: the regression gives a law that is off by {:.4g}, and {:.4g} is "
            "possible: the system is no linear MDP of these features, or this run is one of the share of "
            "delta for which no bound is promised",
            h, pair / features_.actions(), pair % features_.actions(), worst, u));
    }

    const PairFeatures& features_;
    const LinearEstimate& estimate_;
    double sizes_ = 0;             // sum of |mu^(s)|
    Matrix rows_, scaled_;         // phi . mu^, and L^-1 phi, of the pairs in hand
    const double* raw_ = nullptr;  // phi . mu^ of one pair
};

}  // namespace

LearnedLinear::Parts LearnedLinear::parts_of(const Task& task, const std::vector<LinearEstimate>& estimates) {
    check_estimates(task, estimates);
    const PairFeatures& features = *task.linear;
    Parts parts;
    parts.probabilities.reserve((estimates.size() + 1) * at(features.entries()));
    for (std::size_t k = 0; k < estimates.size(); ++k) {
        RowMaker maker(features, estimates[k]);
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            parts.bonuses.push_back(maker.append(static_cast<Step>(k), pair, parts.probabilities));
            parts.radii.push_back(std::min(1.0, parts.bonuses.back()));
        }
    }
    // No reward depends on where the last step leads: any law will do.
    if (task.homogeneous && !estimates.empty()) return parts;
    for (Index pair = 0; pair < features.pairs(); ++pair)
        parts.probabilities.insert(parts.probabilities.end(), at(features.successors(pair)),
                                   1 / static_cast<double>(features.successors(pair)));
    return parts;
}

LearnedLinear::LearnedLinear(const Task& task, const std::vector<LinearEstimate>& estimates, double delta)
    : LearnedLinear(task, estimates, delta, parts_of(task, estimates)) {}

LearnedLinear::LearnedLinear(const Task& task, std::vector<LinearEstimate> estimates, double delta,
                             Parts parts)
    : LearnedRows(TransitionModel(task.linear, task.horizon, task.start, std::move(parts.probabilities)),
                  task.homogeneous, std::move(parts.radii), delta),
      features_(task.linear),
      estimates_(std::move(estimates)),
      bonuses_(std::move(parts.bonuses)) {}

}  // namespace alidade
