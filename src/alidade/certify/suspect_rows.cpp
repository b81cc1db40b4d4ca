#include "alidade/certify/suspect_rows.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "fit_rows.hpp"
#include "following_alternatives.hpp"
#include "misfit.hpp"

namespace alidade {

namespace {

using detail::FitRow;
using detail::FitRows;

/// A row, what is known of its weights, and its evidence at their centre, which is at least the least.
struct Suspect {
    const FitRows* rows;
    const FitRow* row;
    const ConfidenceSet* set;
    double log_evidence;
};

/// How many e-values are large enough together (e-BH): the largest k of which k are at least hypotheses/(k
/// q).
std::size_t rejected(const std::vector<double>& descending, double hypotheses, double share) {
    std::size_t most = 0;
    for (std::size_t k = 1; k <= descending.size(); ++k)
        if (descending[k - 1] >= std::log(hypotheses / (static_cast<double>(k) * share))) most = k;
    return most;
}

/// Weights of the simplex near those at which a linear function is least over the set's ellipsoid.
Vector toward(const ConfidenceSet& set, const Vector& gradient) {
    const Matrix& basis = set.parameters().space().basis;
    const Vector slope = basis.transpose() * gradient;
    const Matrix& factor = set.estimate().factor;
    const Vector half = factor.triangularView<Eigen::Lower>().solve(slope);
    const double length = half.norm();
    if (!(length > 0)) return set.weights();
    const Vector move = basis * factor.transpose().triangularView<Eigen::Upper>().solve(half) *
                        (-set.refined_radius() / length);
    double step = 1;
    for (Index i = 0; i < move.size(); ++i)
        if (move[i] < 0) step = std::min(step, set.weights()[i] / -move[i]);
    return set.weights() + step * move;
}

Vector positive(const Vector& weights) {
    Vector moved = weights.cwiseMax(1e-12);
    return moved / moved.sum();
}

/// No weights of the set give less evidence: f(theta) >= f(x) + grad . (theta - x), and the least of grad .
/// theta over the set is known from below. A few steps of Frank and Wolfe's method choose the x.
double least_over_set(const Suspect& suspect) {
    Vector weights = positive(suspect.set->weights()), gradient;
    double best = -std::numeric_limits<double>::infinity();
    for (int step = 0; step < 12; ++step) {
        const double value = detail::log_row_mixture(*suspect.rows, *suspect.row, weights, gradient);
        const double reach = suspect.set->range({gradient.data(), at(gradient.size())}).lower;
        const double doubt = 1e-12 * (std::abs(value) + gradient.cwiseAbs().maxCoeff());
        const double lower = value + reach - gradient.dot(weights) - doubt;
        best = std::max(best, lower);
        if (value - best < 0.01) break;
        const Vector there = positive(toward(*suspect.set, gradient));
        double length = 1;
        bool moved = false;
        for (int tries = 0; tries < 12 && !moved; ++tries, length /= 2) {
            const Vector next = weights + length * (there - weights);
            Vector ignored;
            moved = detail::log_row_mixture(*suspect.rows, *suspect.row, next, ignored) < value;
            if (moved) weights = next;
        }
        if (!moved) break;
    }
    return best;
}

std::vector<double> descending(const std::vector<Suspect>& suspects) {
    std::vector<double> values;
    values.reserve(suspects.size());
    for (const Suspect& one : suspects) values.push_back(one.log_evidence);
    std::ranges::sort(values, std::ranges::greater{});
    return values;
}

}  // namespace

std::vector<Misfit> suspect_rows(const Counts& counts, const LearnedMixture& learned, double share) {
    expects(share > 0 && share < 1, "share is {}; must be greater than 0 and less than 1", share);
    const FeatureMap& features = learned.model().features();
    expects(
        counts.over(features) && features.kind() == FeatureKind::base_models,
        "counts of other successors than the learned model's, or general features; rows are compared with "
        "mixtures of base models");
    const Index steps = counts.shape().learned_steps();
    std::vector<FitRows> views(at(learned.homogeneous() ? std::min<Index>(1, steps) : steps));
    double pairs = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) pairs += features.successors(pair) >= 2 ? 1 : 0;
    // All rows there are, visited or not: their number must not depend on the data.
    const double hypotheses = pairs * static_cast<double>(views.size());
    std::vector<Suspect> suspects;
    for (std::size_t k = 0; k < views.size(); ++k) {
        if (learned.homogeneous())
            views[k].add(features, counts.pooled(), std::nullopt);
        else
            views[k].add(features, counts.seen(static_cast<Step>(k)), static_cast<Step>(k));
        const ConfidenceSet& set = learned.set(static_cast<Step>(k));
        const std::vector<double> predicted = views[k].predicted(positive(set.weights()));
        for (const FitRow& row : views[k].rows)
            suspects.push_back({&views[k], &row, &set, detail::log_row_mixture(views[k], row, predicted)});
    }
    // What is too little at one member is too little: only the others need the least of all members.
    const std::size_t possible = rejected(descending(suspects), hypotheses, share);
    if (possible == 0) return {};
    const double enough = std::log(hypotheses / (static_cast<double>(possible) * share));
    std::erase_if(suspects, [&](const Suspect& one) { return one.log_evidence < enough; });
    for (Suspect& one : suspects) one.log_evidence = least_over_set(one);
    std::ranges::stable_sort(suspects, std::ranges::greater{}, &Suspect::log_evidence);
    suspects.resize(rejected(descending(suspects), hypotheses, share));
    std::vector<Misfit> found;
    found.reserve(suspects.size());
    for (const Suspect& one : suspects)
        found.push_back(detail::misfit_of(features, *one.rows, *one.row,
                                          one.rows->predicted(positive(one.set->weights())),
                                          one.log_evidence));
    return found;
}

}  // namespace alidade
