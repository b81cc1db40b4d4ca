#include "signed_likelihood.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "likelihood_form.hpp"

namespace alidade::detail {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A ball about the origin that holds all weights, so that their polytope alone binds.
Ellipsoid everything(const ParameterSet& parameters) {
    const Index p = parameters.space().dimension();
    return {Vector::Zero(p), Matrix::Identity(p, p), 2 * parameters.radius() + 1};
}

Eigen::Map<const Vector> phi_of(const FeatureMap& features, Index entry) {
    return {features.phi(entry).data(), features.features()};
}

/// Rows of the entries that were seen.
LikelihoodRows seen_rows(const FeatureMap& features, std::span<const double> counts) {
    LikelihoodRows rows{features.features(), {}, {}, 0};
    for (Index e = 0; e < features.entries(); ++e) {
        if (counts[at(e)] <= 0) continue;
        const auto phi = features.phi(e);
        rows.rows.insert(rows.rows.end(), phi.begin(), phi.end());
        rows.counts.push_back(counts[at(e)]);
        rows.observations += counts[at(e)];
    }
    return rows;
}

}  // namespace

SignedLikelihood::SignedLikelihood(const SharedFeatures& features)
    : parameters_(ParameterSet::of(*features)),
      support_(parameters_, std::vector{everything(parameters_)}),
      inner_(parameters_.space().centre) {
    expects(parameters_.rows() != nullptr, "signed likelihoods are of signed features");
    const TangentSpace& space = parameters_.space();
    const ProbabilityRows& rows = *parameters_.rows();
    varies_.resize(at(rows.entries()));
    for (Index e = 0; e < rows.entries(); ++e)
        varies_[at(e)] = rows.normal(e).norm() * parameters_.radius() > 1e-12 ? 1 : 0;
    if (space.dimension() == 0) return;
    // The mean of the farthest points of many directions lies inside, if anything does.
    Vector sum = Vector::Zero(space.centre.size());
    Index found = 0;
    for (Index i = 0; i < space.dimension(); ++i)
        for (const double sign : {-1.0, 1.0}) {
            const Vector direction = sign * space.basis.col(i);
            const SupportBracket farthest = support_.bracket({direction.data(), at(direction.size())});
            if (farthest.witness.size() == 0) continue;
            sum += farthest.witness;
            ++found;
        }
    expects(found > 0, "no weights of the signed features make laws");
    const Vector zeta = space.coordinates(sum / static_cast<double>(found));
    Vector probabilities;
    rows.probabilities(zeta, probabilities);
    for (Index e = 0; e < rows.entries(); ++e)
        expects(!varies_[at(e)] || probabilities[e] > 1e-12,
                "likelihoods of signed features need weights at which every transition is possible; that of "
                "{} is not",
                rows.place(e));
    inner_ = space.weights(zeta);
    expects(
        parameters_.contains(inner_),
        "likelihoods of signed features need weights that make laws in the digits there are; with features "
        "of some {:.1g} and weights of up to {:.1g} there are none",
        rows.largest, features->norm_bound());
}

SignedLikelihood::Expansion SignedLikelihood::expand(const Vector& zeta, std::span<const double> counts,
                                                     double pseudo_count) const {
    const ProbabilityRows& rows = *parameters_.rows();
    const Index p = zeta.size();
    const double reach = parameters_.radius(), room = reach * reach - zeta.squaredNorm();
    // The ball of the weights' norms is a constraint like any other.
    Expansion result{-2 * pseudo_count / room * zeta,
                     2 * pseudo_count / room * Matrix::Identity(p, p) +
                         4 * pseudo_count / (room * room) * zeta * zeta.transpose()};
    Vector probabilities;
    rows.probabilities(zeta, probabilities);
    for (Index e = 0; e < rows.entries(); ++e) {
        if (!varies_[at(e)]) continue;
        const double weight = counts[at(e)] + pseudo_count;
        const auto psi = rows.normal(e);
        result.gradient += weight / probabilities[e] * psi;
        result.curvature += weight / (probabilities[e] * probabilities[e]) * psi * psi.transpose();
    }
    return result;
}

double SignedLikelihood::longest_step(const Vector& zeta, const Vector& step) const {
    const ProbabilityRows& rows = *parameters_.rows();
    Vector probabilities;
    rows.probabilities(zeta, probabilities);
    double length = 1;
    for (Index e = 0; e < rows.entries(); ++e)
        if (const double change = varies_[at(e)] ? rows.normal(e).dot(step) : 0.0; change < 0)
            length = std::min(length, -0.99 * probabilities[e] / change);
    const double square = parameters_.radius() * parameters_.radius();
    const auto outside = [&] { return (zeta + length * step).squaredNorm() >= square * (1 - 1e-12); };
    while (length > 1e-15 && outside()) length /= 2;
    return outside() ? 0 : length;
}

bool SignedLikelihood::possible(const Vector& zeta) const {
    const ProbabilityRows& rows = *parameters_.rows();
    Vector probabilities;
    rows.probabilities(zeta, probabilities);
    for (Index e = 0; e < rows.entries(); ++e)
        if (varies_[at(e)] && !(probabilities[e] > 0)) return false;
    return zeta.squaredNorm() < parameters_.radius() * parameters_.radius();
}

bool SignedLikelihood::inside(const Vector& zeta) const {
    return possible(zeta) && zeta.squaredNorm() < parameters_.radius() * parameters_.radius() * (1 - 1e-9);
}

double SignedLikelihood::gain(const Vector& zeta, const Vector& step, std::span<const double> counts,
                              double pseudo_count) const {
    const ProbabilityRows& rows = *parameters_.rows();
    const double reach = parameters_.radius(), square = reach * reach;
    double sum =
        pseudo_count * std::log((square - (zeta + step).squaredNorm()) / (square - zeta.squaredNorm()));
    Vector probabilities;
    rows.probabilities(zeta, probabilities);
    for (Index e = 0; e < rows.entries(); ++e)
        if (varies_[at(e)])
            sum += (counts[at(e)] + pseudo_count) * std::log1p(rows.normal(e).dot(step) / probabilities[e]);
    return sum;
}

Vector SignedLikelihood::fit(std::span<const double> counts, double pseudo_count, const Vector& start) const {
    expects(static_cast<Index>(counts.size()) == parameters_.rows()->entries() && pseudo_count > 0,
            "{} counts of {} entries and a pseudo-count of {}; must be as many, and more than 0",
            counts.size(), parameters_.rows()->entries(), pseudo_count);
    const TangentSpace& space = parameters_.space();
    if (space.dimension() == 0) return inner_;
    const Vector inner = space.coordinates(inner_);
    Vector zeta = start.size() > 0 ? space.coordinates(start) : inner;
    // A start that lies on the boundary, or next to it, has no way to go.
    for (int halving = 0; halving < 60 && !inside(zeta); ++halving) zeta = (zeta + inner) / 2;
    double before = infinite;
    for (int step = 0; step < 200; ++step) {
        const Expansion here = expand(zeta, counts, pseudo_count);
        const Vector direction = here.curvature.llt().solve(here.gradient);
        const double decrement = here.gradient.dot(direction);
        // Near the end it falls quadratically until only rounding is left of it.
        if (!(decrement > 1e-20) || (decrement < 1e-9 && decrement > 0.25 * before)) break;
        before = decrement;
        double length = longest_step(zeta, direction);
        if (length == 0) break;
        while (length > 1e-12 &&
               gain(zeta, length * direction, counts, pseudo_count) < 0.25 * length * decrement)
            length /= 2;
        // Next to a face rounding may lead out of it: then the search ends where it is.
        const Vector next = zeta + length * direction;
        if (!possible(next)) break;
        zeta = next;
    }
    return space.weights(zeta);
}

double SignedLikelihood::gap(const Vector& slope, const Vector& weights) const {
    // Differences of weights are tangent: what is left of the slope there is small at a maximiser, while the
    // rest is as large as the number of observations.
    const Matrix& basis = parameters_.space().basis;
    const Vector tangent = basis * (basis.transpose() * slope);
    const double rounding = 1e-14 * static_cast<double>(slope.size()) * slope.norm() *
                            (1 + weights.norm() + 2 * parameters_.radius());
    const double upper = support_.bracket({tangent.data(), at(tangent.size())}).upper;
    return std::max(0.0, upper - tangent.dot(weights)) + rounding;
}

std::vector<std::vector<double>> entry_counts(const Task& task, const Counts& counts) {
    const Index steps = counts.shape().learned_steps();
    std::vector<std::vector<double>> result(at(task.homogeneous ? std::min<Index>(1, steps) : steps),
                                            std::vector<double>(at(task.features->entries()), 0.0));
    for (Step h = 0; h < steps; ++h) {
        std::vector<double>& set = result[at(task.homogeneous ? 0 : h)];
        for (const auto& [entry, count] : counts.seen(h)) set[at(entry)] += static_cast<double>(count);
    }
    return result;
}

double signed_log_likelihood(const FeatureMap& features, std::span<const double> counts,
                             const Vector& weights) {
    double sum = 0;
    for (Index e = 0; e < features.entries(); ++e) {
        if (counts[at(e)] <= 0) continue;
        const double probability = phi_of(features, e).dot(weights);
        if (!(probability > 0)) return -infinite;
        sum += counts[at(e)] * std::log(probability);
    }
    return sum;
}

double excess_of_laws(const FeatureMap& features, std::span<const double> counts, const Vector& weights) {
    double sum = 0;
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        double visits = 0, total = 0;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            visits += counts[at(e)];
            total += std::max(0.0, phi_of(features, e).dot(weights));
        }
        if (visits > 0 && total > 1) sum += visits * std::log(total);
    }
    return sum;
}

namespace {

/// What the rows are at the fit.
struct RowsAtFit {
    Vector slope;    // of the log-likelihood
    Vector lengths;  // |f| / (weights . f) of every row
    Vector changes;  // no member's relative change of a row is larger
};

RowsAtFit rows_at(const LikelihoodRows& rows, const Vector& weights) {
    RowsAtFit result{Vector::Zero(weights.size()), Vector(rows.size()), Vector(rows.size())};
    for (Index k = 0; k < rows.size(); ++k) {
        const Eigen::Map<const Vector> f(rows.row(k), weights.size());
        const double probability = f.dot(weights);
        result.slope += rows.counts[at(k)] / probability * f;
        result.lengths[k] = f.norm() / probability;
        // No probability is above 1: x_t = P/P~ - 1 is at most this, before any ellipsoid is known.
        result.changes[k] =
            (1 / probability - 1) * (1 + 1e-12) + 1e-12 * (1 + weights.norm()) * result.lengths[k];
    }
    return result;
}

/// The ellipsoid about the fit of all weights with sum of (x - ln(1+x)) <= reach: as for base models, but
/// without terms of faces [docs/algorithms/likelihood.md, Lemma 4b].
ConfidenceSet ellipsoid_of(const ParameterSet& parameters, const LikelihoodRows& rows, const Vector& weights,
                           const RowsAtFit& at_fit, double reach) {
    const TangentSpace& space = parameters.space();
    const Index p = space.dimension();
    // Any smaller weight of a term is valid too. Terms beyond `most` would drown the others in their
    // rounding.
    const double roundings = static_cast<double>(p * (2 * weights.size() + rows.size() + 16));
    const double unit = roundings * std::numeric_limits<double>::epsilon(), most = 5e-4 * reach / unit;
    RowLimits limits{at_fit.changes, Vector(rows.size()), {}};
    double size = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        const double squares = rows.counts[at(k)] * at_fit.lengths[k] * at_fit.lengths[k];
        limits.factors[k] = most / squares;
        size += std::min(most, 0.5 * squares);
    }
    const double farthest = 4 * parameters.radius() * parameters.radius();
    const double error = unit * size, floor = std::max(0.1 / farthest, 4 * error);
    const double squared_radius =
        (reach + unit * rows.observations + (floor + error) * farthest) * (1 + 1e-9);
    limits.rounding = unit * std::sqrt(squared_radius / floor) * at_fit.lengths;
    const Matrix precision = bootstrapped(rows, relative_rows(rows, weights, space.basis),
                                          floor * Matrix::Identity(p, p), squared_radius, limits);
    const PointEstimate estimate =
        estimate_with(space.coordinates(weights), (precision + precision.transpose()) / 2);
    return {parameters, estimate, std::sqrt(squared_radius * (1 + estimate.metric_error))};
}

}  // namespace

ConfidenceSet prediction_set(const SignedLikelihood& likelihood, const FeatureMap& features,
                             std::span<const double> counts, double predicted, double failure,
                             const Vector& start) {
    expects(failure > 0 && failure < 1, "failure probability is {}; must be in (0, 1)", failure);
    const ParameterSet& parameters = likelihood.parameters();
    const TangentSpace& space = parameters.space();
    const LikelihoodRows rows = seen_rows(features, counts);
    // After very many observations the maximiser of a smaller barrier would lie on faces, but for digits that
    // there are not.
    const Vector weights = likelihood.fit(counts, 1e-6 + 1e-13 * rows.observations, start);
    const double reached = signed_log_likelihood(features, counts, weights);
    if (reached == -infinite)
        throw ModelContradiction("a transition was seen that no weights of the signed features allow");
    const RowsAtFit at_fit = rows_at(rows, weights);
    // L(theta) >= predicted - ln(1/failure) for the truth, and L(theta) <= L(weights) + gap for every theta.
    // Two large sums: what their digits leave open is allowed for, as is that predictions sum to 1 up to
    // rounding.
    const double gap = likelihood.gap(at_fit.slope, weights);
    const double longest = rows.size() > 0 ? at_fit.lengths.maxCoeff() : 0;
    const double digits = 1e-12 * (std::abs(reached) + std::abs(predicted) +
                                   static_cast<double>(features.features()) * rows.observations *
                                       (1 + longest * 1e-2 * (1 + weights.norm())));
    const double reach = reached - predicted + std::log(1 / failure) + gap + digits;
    if (reach < 0)
        throw ModelContradiction(
            "no weights of the signed features are as likely as what was predicted: the data contradict the "
            "features, or the confidence event (probability 1 - delta) failed");
    if (std::isfinite(reach) && space.dimension() > 0)
        return ellipsoid_of(parameters, rows, weights, at_fit, reach);
    // What was predicted to be impossible happened: nothing is said.
    const Index p = space.dimension();
    return {parameters, estimate_with(space.coordinates(weights), Matrix::Identity(p, p)),
            2 * parameters.radius()};
}

}  // namespace alidade::detail
