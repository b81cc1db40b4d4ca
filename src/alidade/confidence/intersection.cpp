#include "intersection.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "../convex/accurate_sum.hpp"
#include "alidade/error.hpp"

namespace alidade::detail {

namespace {

constexpr int first_shares = 16, refinements = 3;

/// The ball about the estimate of a set: |factor'(z - centre)| <= radius.
struct Ball {
    const Vector& centre;
    const Matrix& factor;
    double radius;

    explicit Ball(const ConfidenceSet& set)
        : centre(set.estimate().coordinates), factor(set.estimate().factor), radius(set.radius()) {}

    /// Never above the exact squared distance of z from the centre, but for the rounding of z itself.
    double squared_distance_below(const Vector& z) const {
        const double computed = factor.transpose().lazyProduct(z - centre).norm();
        const double error =
            8 * static_cast<double>(z.size()) * epsilon * factor.norm() * (z.norm() + centre.norm());
        const double least = std::max(0.0, computed - error);
        return least * least;
    }
    /// Half the gradient of the squared distance.
    Vector gradient(const Vector& z) const {
        return factor.lazyProduct(Vector(factor.transpose().lazyProduct(z - centre)));
    }
};

struct Fused {
    PointEstimate estimate;
    double radius;
    double log_volume;
};

/// The ellipsoid of one share. In units in which the first ball's square is its own: f(z) = share q_1(z) +
/// weight q_2(z) is at most r_1^2 for common members, and f(z) = f(c) + 2 g.(z-c) + |z-c|^2_M for any c.
/// Nothing where the metric is singular up to rounding: then this share proves nothing. `farthest`: no member
/// is farther from the centre of the coordinates.
std::optional<Fused> fuse(const Ball& one, const Ball& two, double share, double farthest) {
    const double square = one.radius * one.radius, ratio = one.radius / two.radius;
    const double weight = (1 - share) * ratio * ratio;
    const auto p = static_cast<double>(one.centre.size());
    Matrix metric = share * one.factor.lazyProduct(one.factor.transpose());
    metric += weight * two.factor.lazyProduct(two.factor.transpose());
    const Eigen::LLT<Matrix> cholesky(metric);
    if (!metric.allFinite() || cholesky.info() != Eigen::Success) return std::nullopt;
    const Vector target = share * one.gradient(Vector::Zero(one.centre.size())) +
                          weight * two.gradient(Vector::Zero(one.centre.size()));
    const double trace = metric.trace();
    PointEstimate solved = estimate_with(Vector::Zero(one.centre.size()), std::move(metric));
    // The minimum of f; what its gradient still is, is accounted for below.
    Vector centre =
        -(solved.inverse_factor.transpose().lazyProduct(Vector(solved.inverse_factor.lazyProduct(target))));
    const Vector gradient = share * one.gradient(centre) + weight * two.gradient(centre);
    // The traces of both metrics bound the norms of their factors' products; an estimate may be far from all
    // members.
    const double reach = centre.norm() + farthest;
    const double unit = 8 * (p + 1) * epsilon * trace;
    const double gradient_rounding = unit * (centre.norm() + std::max(one.centre.norm(), two.centre.norm()));
    const double least =
        share * one.squared_distance_below(centre) + weight * two.squared_distance_below(centre);
    // |z-c|^2_M <= r_1^2 - f(c) - 2 g.(z-c), with f(c) from below, |g| from above and |z-c| <= |c| + farthest
    // [docs/algorithms/likelihood.md, Lemma 5].
    const double bound = square - least * (1 - 8 * epsilon) +
                         reach * (2 * (gradient.norm() + gradient_rounding) + unit * reach) + square * 1e-12;
    solved.coordinates = std::move(centre);
    double log_volume = std::numeric_limits<double>::infinity(), radius = -1;
    // A negative bound proves that nothing is common to both; what is not a number proves nothing.
    if (std::isnan(bound)) return std::nullopt;
    if (bound >= 0) {
        radius = std::sqrt(bound * (1 + solved.metric_error) * (1 + 1e-12));
        log_volume = p * std::log(radius);
        for (Index i = 0; i < solved.factor.rows(); ++i) log_volume -= std::log(solved.factor(i, i));
    }
    return Fused{std::move(solved), radius, log_volume};
}

double log_volume(const Ball& ball) {
    double sum = static_cast<double>(ball.centre.size()) * std::log(ball.radius);
    for (Index i = 0; i < ball.factor.rows(); ++i) sum -= std::log(ball.factor(i, i));
    return sum;
}

}  // namespace

ConfidenceSet intersection(const ConfidenceSet& first, const ConfidenceSet& second) {
    expects(first.features() == second.features() && first.dimension() == second.dimension() &&
                first.parameters().kind() == second.parameters().kind() &&
                first.parameters().radius() == second.parameters().radius() &&
                first.parameters().space().centre == second.parameters().space().centre,
            "confidence sets of {} and {} weights; must be about the same weights", first.features(),
            second.features());
    // Mixtures are within sqrt(1 - 1/d) of the centre.
    const double farthest = first.parameters().kind() == ParameterSetKind::simplex
                                ? 1
                                : first.parameters().radius() * (1 + 1e-12);
    const Ball one(first), two(second);
    if (one.centre.size() == 0 || one.radius == 0) return first;
    if (two.radius == 0) return second;
    const bool first_smaller = log_volume(one) <= log_volume(two);
    double least = std::min(log_volume(one), log_volume(two));
    std::optional<Fused> best;
    // A grid, then finer ones about its best: any share is a proof, so none need be the best of all.
    double low = 0, step = 1.0 / first_shares, middle = 0.5;
    for (int round = 0; round <= refinements; ++round) {
        for (int k = 1; k < (round == 0 ? first_shares : 8); ++k) {
            const double share = low + k * step;
            if (!(share > 0 && share < 1)) continue;
            std::optional<Fused> fused = fuse(one, two, share, farthest);
            if (!fused) continue;
            if (fused->radius < 0)
                throw ModelContradiction(
                    "two confidence sets of the same weights have no member in common: the data contradict "
                    "the base models, or a confidence event (probability 1 - delta) failed");
            if (!(fused->log_volume < least)) continue;
            least = fused->log_volume;
            middle = share;
            best = std::move(fused);
        }
        if (!best) break;
        low = middle - step;
        step /= 4;
    }
    if (!best) return first_smaller ? first : second;
    return ConfidenceSet(first.parameters(), best->estimate, best->radius);
}

}  // namespace alidade::detail
