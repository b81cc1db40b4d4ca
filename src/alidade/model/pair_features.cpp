#include "alidade/model/pair_features.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {

namespace {

constexpr double norm_tolerance = 1e-9;  // of |phi| <= 1, and of measures
constexpr double law_tolerance = 1e-9;   // as of base models' rows
constexpr double largest_norm_bound = 1e100;

/// At least |sum over s' of mu(s') V(s')| for every V in [0,1]^S: coordinate by coordinate no V gives more
/// than all positive or all negative mass. For measures that are not negative it is attained by V = 1.
double largest_mass(const Matrix& measures) {
    double squares = 0;
    for (Index i = 0; i < measures.rows(); ++i) {
        const double up = measures.row(i).cwiseMax(0).sum(), down = -measures.row(i).cwiseMin(0).sum();
        squares += std::pow(std::max(up, down), 2);
    }
    return std::sqrt(squares);
}

void check_measures(const PairFeatures& features, const Matrix& measures, Step h) {
    expects(measures.rows() == features.features() && measures.cols() == features.states(),
            "the measures of step {} are {} rows of {} numbers; must be {} rows of {}: one for each feature, "
            "with a number for each state",
            h, measures.rows(), measures.cols(), features.features(), features.states());
    expects(measures.allFinite(), "the measures of step {} are not all finite", h);
    const double mass = largest_mass(measures);
    expects(mass <= features.norm_bound() * (1 + norm_tolerance),
            "the measures of step {} may have a norm of {:.6g}; must be at most the norm bound, {:.6g}", h,
            mass, features.norm_bound());
}

/// The law of one pair, on its successors; scaled to sum to one up to rounding.
void append_law(const PairFeatures& features, const Vector& law, Step h, Index pair,
                std::vector<double>& probabilities) {
    const Index state = pair / features.actions(), action = pair % features.actions();
    const auto targets = features.targets(pair);
    double inside = 0, outside = law.lpNorm<1>();
    for (const std::int32_t target : targets) {
        const double p = law[target];
        outside -= std::abs(p);
        expects(p >= -law_tolerance,
                "the law of step {}, state {}, action {} gives state {} the probability {:.6g}; must not be "
                "negative",
                h, state, action, target, p);
        inside += std::max(0.0, p);
    }
    expects(std::abs(inside - 1) <= law_tolerance && std::abs(law.sum() - 1) <= law_tolerance,
            "the law of step {}, state {}, action {} sums to {:.12g}, {:.12g} of it on the successors; both "
            "must be 1 within 1e-9",
            h, state, action, law.sum(), inside);
    // Numbers of both signs may cancel in the sum.
    expects(outside <= law_tolerance,
            "the law of step {}, state {}, action {} has {:.6g} on states that are no successors; must be 0 "
            "within 1e-9",
            h, state, action, outside);
    for (const std::int32_t target : targets) probabilities.push_back(std::max(0.0, law[target]) / inside);
}

}  // namespace

PairFeatures::PairFeatures(SuccessorMap successors, Index features, std::vector<double> values,
                           double norm_bound)
    : SuccessorMap(std::move(successors)),
      features_(features),
      values_(std::move(values)),
      norm_bound_(norm_bound) {
    expects(features_ >= 1, "{} features of a pair; must be at least 1", features_);
    expects(values_.size() == at(pairs() * features_),
            "{} numbers for features of pairs; must be {}: {} for each of {} pairs", values_.size(),
            pairs() * features_, features_, pairs());
    // Beyond it squares are too near the smallest of all numbers to be rounded like others.
    expects(norm_bound_ > 0 && norm_bound_ <= largest_norm_bound,
            "the norm bound of the measures is {}; must be greater than 0 and at most {}", norm_bound_,
            largest_norm_bound);
    for (Index pair = 0; pair < pairs(); ++pair) {
        expects(phi(pair).allFinite(), "the features of state {}, action {} are not all finite",
                pair / actions(), pair % actions());
        expects(phi(pair).norm() <= 1 + norm_tolerance,
                "the features of state {}, action {} have the norm {:.9g}; must be at most 1: divide all by "
                "the largest norm and multiply norm_bound by it",
                pair / actions(), pair % actions(), phi(pair).norm());
        // 1 = phi . (sum over s' of mu(s')) <= |phi| times the bound, V being 1.
        expects(phi(pair).norm() * norm_bound_ >= 1 - norm_tolerance,
                "the features of state {}, action {} have the norm {:.6g} and the measures one of {:.6g} at "
                "most, so that no law of transitions sums to 1; their product must be at least 1",
                pair / actions(), pair % actions(), phi(pair).norm(), norm_bound_);
    }
}

SuccessorMap all_successors(Index states, Index actions) {
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> targets(at(states * actions * states));
    for (Index pair = 0; pair <= states * actions; ++pair) offsets.push_back(pair * states);
    for (Index pair = 0; pair < states * actions; ++pair)
        std::iota(targets.begin() + pair * states, targets.begin() + (pair + 1) * states, 0);
    return SuccessorMap(states, actions, std::move(offsets), std::move(targets));
}

TransitionModel linear_model(const SharedPairFeatures& features, Index horizon, StartLaw start,
                             const std::vector<Matrix>& measures) {
    expects(features != nullptr, "a linear model needs features of pairs");
    expects(measures.size() == 1 || measures.size() == at(horizon),
            "measures of {} steps; must be one for all, or {}", measures.size(), horizon);
    std::vector<double> probabilities;
    probabilities.reserve(measures.size() * at(features->entries()));
    for (std::size_t h = 0; h < measures.size(); ++h) {
        check_measures(*features, measures[h], static_cast<Step>(h));
        for (Index pair = 0; pair < features->pairs(); ++pair)
            append_law(*features, measures[h].transpose() * features->phi(pair), static_cast<Step>(h), pair,
                       probabilities);
    }
    return TransitionModel(features, horizon, std::move(start), std::move(probabilities));
}

}  // namespace alidade
