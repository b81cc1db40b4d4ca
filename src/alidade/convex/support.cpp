#include "alidade/convex/support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accurate_sum.hpp"
#include "alidade/error.hpp"
#include "support_program.hpp"

namespace alidade {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using detail::epsilon;

/// Solves factor' x = right for a lower triangular factor.
Vector solve_transposed(const Matrix& factor, Vector right) {
    for (Index i = right.size() - 1; i >= 0; --i) {
        for (Index k = i + 1; k < right.size(); ++k) right[i] -= factor(k, i) * right[k];
        right[i] /= factor(i, i);
    }
    return right;
}

/// Solves factor x = right.
Vector solve_lower(const Matrix& factor, Vector right) {
    for (Index i = 0; i < right.size(); ++i) {
        for (Index k = 0; k < i; ++k) right[i] -= factor(i, k) * right[k];
        right[i] /= factor(i, i);
    }
    return right;
}

void validate(const Ellipsoid& ellipsoid, Index dimension, std::size_t position) {
    expects(ellipsoid.centre.size() == dimension && ellipsoid.factor.rows() == dimension &&
                ellipsoid.factor.cols() == dimension,
            "ellipsoid {} has {} coordinates and a {} x {} factor; must have {}", position,
            ellipsoid.centre.size(), ellipsoid.factor.rows(), ellipsoid.factor.cols(), dimension);
    expects(std::isfinite(ellipsoid.radius) && ellipsoid.radius >= 0,
            "ellipsoid {} has radius {}; must be a finite number of at least 0", position, ellipsoid.radius);
    expects(ellipsoid.centre.allFinite() && ellipsoid.factor.allFinite(),
            "ellipsoid {} has a centre or factor that is not finite", position);
    for (Index i = 0; i < dimension; ++i)
        expects(ellipsoid.factor(i, i) > 0, "ellipsoid {}: diagonal {} of the factor is {}; must be positive",
                position, i, ellipsoid.factor(i, i));
}

/// The power of two that brings a number to between 1 and 2; 0 for 0.
int exponent_of(double number) {
    return number > 0 ? std::ilogb(number) : 0;
}

}  // namespace

SupportFunction::SupportFunction(ParameterSet parameters, std::span<const Ellipsoid> ellipsoids,
                                 SupportOptions options)
    : parameters_(std::move(parameters)), options_(options) {
    expects(!ellipsoids.empty(), "no ellipsoids; at least one is needed");
    expects(options.tolerance > 0, "tolerance is {}; must be greater than 0", options.tolerance);
    expects(options.iterations >= 0 && options.anchor_iterations >= 0,
            "iteration limits are {} and {}; must be at least 0", options.iterations,
            options.anchor_iterations);
    const Index p = parameters_.space().dimension();
    const auto add = [&](const Ellipsoid& each) {
        balls_.push_back(
            {each.centre, each.factor.triangularView<Eigen::Lower>(), each.radius, 0, {}, {}, {}});
        Ball& ball = balls_.back();
        // A power of two: exact, and keeps squares of dual points from under- and overflow.
        const int exponent = exponent_of(each.radius);
        ball.radius = std::ldexp(each.radius, -exponent);
        for (double& x : ball.factor.reshaped()) x = std::ldexp(x, -exponent);
        ball.size = ball.factor.norm();
        if (each.radius == 0) return;
        ball.whitening = ball.factor.transpose() / ball.radius;
        ball.gram = ball.whitening.transpose().lazyProduct(ball.whitening);
    };
    for (std::size_t j = 0; j < ellipsoids.size(); ++j) {
        validate(ellipsoids[j], p, j);
        add(ellipsoids[j]);
    }
    // The norm ball of general weights is one more ellipsoid.
    if (parameters_.kind() != ParameterSetKind::simplex)
        add({Vector::Zero(p), Matrix::Identity(p, p), parameters_.radius()});
    extent_ = parameters_.space().centre.norm() + 2 * parameters_.radius();
    move_origin(Vector::Zero(p));
    find_anchor();
    if (anchor_.size() == p) member_ = origin_ + anchor_;
    if (parameters_.rows() && !interior_ && !empty_) {
        // Inequalities that are equations leave no inside. A search within ten digits of them still finds
        // good multipliers, and the upper end uses the inequalities as they are.
        leeway_ = 1e-10;
        find_anchor();
    }
}

/// Whether the coordinates are those of a member, up to rounding; `weights` gets them, cleaned.
bool SupportFunction::member(const Vector& coordinates, Vector& weights) const {
    if (coordinates.size() != parameters_.space().dimension() || !coordinates.allFinite()) return false;
    const TangentSpace& space = parameters_.space();
    const double unit = 16 * static_cast<double>(space.centre.size()) * epsilon;
    weights = space.weights(coordinates);
    if (parameters_.kind() == ParameterSetKind::simplex) {
        // A point that is off by rounding is cleaned, and then held against every ball. Only lower ends rest
        // on it.
        if (weights.minCoeff() < -unit) return false;
        weights = weights.cwiseMax(0.0);
        weights /= weights.sum();
    }
    if (const ProbabilityRows* rows = parameters_.rows())
        if (!parameters_.contains(weights, unit * (1 + weights.norm()) * std::max(1.0, rows->largest)))
            return false;
    const Vector inside = space.coordinates(weights);
    return std::ranges::all_of(balls_, [&](const Ball& ball) {
        const Vector offset = inside - ball.centre;
        const double rounding = unit * (space.centre.norm() + parameters_.radius() + ball.centre.norm());
        if (ball.radius == 0) return offset.norm() <= rounding;
        return (ball.whitening * offset).norm() <= 1 + unit + rounding * ball.size / ball.radius;
    });
}

/// `direction` has elements of at most 2.
SupportFunction::Goal SupportFunction::goal_of(std::span<const double> direction) const {
    const TangentSpace& space = parameters_.space();
    Goal goal;
    goal.direction = Eigen::Map<const Vector>(direction.data(), parameters_.features());
    const bool simplex = parameters_.kind() == ParameterSetKind::simplex;
    if (simplex && goal.direction.size() > 0) {
        // Convex weights do not see a constant, and without it rounding is that of the range.
        goal.shift = goal.direction.minCoeff();
        goal.top = goal.direction.maxCoeff();
        goal.direction.array() -= goal.shift;
    }
    goal.size = goal.direction.norm();
    goal.base = goal.direction.dot(space.weights(origin_));
    goal.tangent = space.basis.transpose() * goal.direction;
    // By how much the direction can vary over the parameters, at most: the tolerance is relative to it.
    goal.scale = simplex ? goal.direction.maxCoeff() : 2 * parameters_.radius() * goal.tangent.norm();
    if (goal.scale > 0) goal.tangent /= goal.scale;
    return goal;
}

/// The bound of the dual point that gives ball j the share whitening' parts_j of the direction, each cut
/// minus its multiplier times its normal, and the parameter set the rest: each set's own maximum, summed, and
/// rounded up. Above the maximum for any parts and any multipliers >= 0 [theory §3g]: with the best nu, and
/// mu the slack of it, the simplex's share has maximum nu. The rest is summed in twice the precision, because
/// in thin sets large shares cancel.
double SupportFunction::dual_value(const Goal& goal, std::span<const Vector> parts,
                                   std::span<const Index> cuts, const Vector& multipliers) const {
    const TangentSpace& space = parameters_.space();
    const Index p = space.dimension();
    std::vector<detail::AccurateSum> left(goal.tangent.begin(), goal.tangent.end());
    double sum = 0, size = 0, tail = 0;  // rounding: once of `size`, and of the squared unit of `tail`
    for (std::size_t j = 0; j < parts.size(); ++j) {
        const Ball& ball = balls_[j];
        if (ball.radius == 0 || parts[j].size() == 0) continue;
        const Vector u = parts[j] / ball.radius;
        const double norm = u.norm(), length = ball.radius * norm;
        for (Index k = 0; k < p; ++k)
            for (Index i = k; i < p; ++i) left[at(i)].add_product(-ball.factor(i, k), u[k]);
        // The largest u . factor'(z - origin) over the ball is that at its centre plus radius times |u|.
        sum += u.dot(ball.offset) + length;
        size += length + norm * ball.offset.norm();
        tail += norm * ball.size * (extent_ + ball.centre.norm());
    }
    for (std::size_t c = 0; c < cuts.size(); ++c) {
        const double weight = multipliers[static_cast<Index>(c)];
        if (!(weight > 0)) continue;
        const auto normal = parameters_.rows()->normal(cuts[c]);
        const double at_origin = row_values_[cuts[c]];
        for (Index i = 0; i < p; ++i) left[at(i)].add_product(weight, normal[i]);
        // The inequality is >= 0 for members, so adding a multiple >= 0 of it raises what is maximised.
        sum += weight * at_origin;
        size += weight * std::abs(at_origin);
        tail += weight * (normal.norm() * extent_ + std::abs(parameters_.rows()->centre[at(cuts[c])]));
    }
    Vector rest(p);
    for (Index i = 0; i < p; ++i) rest[i] = left[at(i)].value();
    const double norm = rest.norm();
    if (parameters_.kind() == ParameterSetKind::simplex)
        sum += (space.basis * rest).maxCoeff() - rest.dot(origin_);
    else
        sum += parameters_.radius() * norm - rest.dot(origin_);
    size += norm * extent_;
    const double unit =
        4 * epsilon *
        (static_cast<double>(space.centre.size()) + static_cast<double>(parts.size() + cuts.size()));
    // What was summed in twice the precision is off by the square of the unit only.
    tail *= static_cast<double>(1 + parts.size() + cuts.size());
    const double value =
        goal.base + goal.scale * (sum + unit * (size + unit * tail)) + unit * goal.size * extent_;
    return goal.direction.size() == 0 ? value : std::nextafter(goal.shift + value, infinity);
}

/// Takes the point as witness if it is a member and better than what there is.
bool SupportFunction::offer(const Goal& goal, const Vector& coordinates, SupportBracket& result) const {
    Vector weights;
    if (!member(coordinates, weights)) return false;
    const double value = goal.shift + weights.dot(goal.direction);
    if (value > result.lower || result.witness.size() == 0) {
        result.lower = value;
        result.witness = std::move(weights);
    }
    return true;
}

/// Upper ends of each set alone; true if one's best point is a member of all, which makes it exact.
bool SupportFunction::closed_forms(const Goal& goal, SupportBracket& result) const {
    const TangentSpace& space = parameters_.space();
    const double unit = 4 * static_cast<double>(space.centre.size()) * epsilon;
    if (parameters_.kind() == ParameterSetKind::simplex) {
        Index best = 0;
        goal.direction.maxCoeff(&best);
        result.upper = goal.top;
        if (goal.scale == 0) return result.witness.size() > 0;
        // The simplex's own maximum is attained if that vertex lies in every ellipsoid.
        if (offer(goal, space.basis.row(best).transpose(), result)) return true;
    } else if (goal.scale == 0) {
        result.upper = goal.base + unit * goal.size * extent_;
        return result.witness.size() > 0;
    }
    std::vector<Vector> parts(balls_.size());
    for (std::size_t j = 0; j < balls_.size(); ++j) {
        const Ball& ball = balls_[j];
        Vector whitened = solve_lower(ball.factor, goal.tangent);
        if (ball.radius == 0) {
            const double from_origin = goal.tangent.dot(ball.centre - origin_);
            const double rounding = unit * (goal.size * extent_ + goal.scale * ball.centre.norm());
            result.upper = std::min(
                result.upper,
                std::nextafter(goal.shift + (goal.base + goal.scale * from_origin + rounding), infinity));
            if (offer(goal, ball.centre, result)) return true;
            continue;
        }
        // The whole direction goes to this ball, and nothing to the other sets.
        parts[j] = ball.radius * whitened;
        result.upper = std::min(result.upper, dual_value(goal, parts, {}, {}));
        parts[j].resize(0);
        const double norm = whitened.norm();
        if (offer(goal, ball.centre + solve_transposed(ball.factor, whitened * (ball.radius / norm)), result))
            return true;
    }
    return false;
}

SupportBracket SupportFunction::bracket(std::span<const double> direction) const {
    expects(direction.size() == static_cast<std::size_t>(parameters_.features()),
            "direction has {} elements; must have {}", direction.size(), parameters_.features());
    std::vector<double> scaled(direction.begin(), direction.end());
    double most = 0;
    for (const double x : scaled) {
        expects(std::isfinite(x), "direction has an element that is not finite");
        most = std::max(most, std::abs(x));
    }
    // By a power of two, exactly, so that neither squares nor rounding terms under- or overflow.
    const int exponent = exponent_of(most);
    for (double& x : scaled) x = std::ldexp(x, -exponent);
    const Goal goal = goal_of(scaled);
    SupportBracket result{-infinity, infinity, {}, SupportStatus::limit, 0};
    if (empty_) {
        result.upper = -infinity;
        result.status = SupportStatus::empty;
        return result;
    }
    // A lower end before anything is searched.
    offer(goal, member_, result);
    if (closed_forms(goal, result)) {
        result.status = SupportStatus::exact;
    } else {
        if (interior_) climb(goal, result);
        if (result.upper - result.lower <= options_.tolerance * goal.unit())
            result.status = SupportStatus::converged;
    }
    // A member up to rounding may be above the bound by rounding.
    result.lower = std::ldexp(std::min(result.lower, result.upper), exponent);
    result.upper = std::ldexp(result.upper, exponent);
    if (exponent < -900) result.upper = std::nextafter(result.upper, infinity);  // it may have been rounded
    return result;
}

std::vector<SupportBracket> SupportFunction::brackets(std::span<const double> directions) const {
    const auto d = static_cast<std::size_t>(parameters_.features());
    expects(directions.size() % d == 0, "{} numbers; must be a multiple of {}", directions.size(), d);
    std::vector<SupportBracket> result;
    result.reserve(directions.size() / d);
    for (std::size_t first = 0; first < directions.size(); first += d)
        result.push_back(bracket(directions.subspan(first, d)));
    return result;
}

}  // namespace alidade
