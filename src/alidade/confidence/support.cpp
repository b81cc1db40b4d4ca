#include "alidade/confidence/support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "interior_point.hpp"

namespace alidade {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

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

}  // namespace

/// A direction in tangent coordinates, scaled to range 1 over the parameters.
struct SupportFunction::Goal {
    std::span<const double> direction;
    double base = 0;   // value at the centre of the tangent space
    double scale = 0;  // half range at least: value = base + scale * (tangent . coordinates)
    double size = 0;   // |direction|, for rounding
    Vector tangent;
};

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
        balls_.push_back({each.centre, each.factor, {}, {}, 0, each.radius});
        Ball& ball = balls_.back();
        ball.factor.triangularView<Eigen::StrictlyUpper>().setZero();
        if (each.radius == 0) return;
        ball.whitening = ball.factor.transpose() / each.radius;
        ball.gram = ball.whitening.transpose().lazyProduct(ball.whitening);
        ball.norm = ball.whitening.norm();
    };
    for (std::size_t j = 0; j < ellipsoids.size(); ++j) {
        validate(ellipsoids[j], p, j);
        add(ellipsoids[j]);
    }
    if (parameters_.kind() != ParameterSetKind::simplex)
        add({Vector::Zero(p), Matrix::Identity(p, p), parameters_.radius()});
    no_rows_ = Matrix(0, p);
    find_anchor();
}

/// Whether the coordinates are those of a member, up to rounding; `weights` gets them, cleaned.
bool SupportFunction::member(const Vector& coordinates, Vector& weights) const {
    if (coordinates.size() != parameters_.space().dimension() || !coordinates.allFinite()) return false;
    const TangentSpace& space = parameters_.space();
    const double unit =
        16 * static_cast<double>(space.centre.size()) * std::numeric_limits<double>::epsilon();
    weights = space.weights(coordinates);
    if (parameters_.kind() == ParameterSetKind::simplex) {
        if (weights.minCoeff() < -unit) return false;
        weights = weights.cwiseMax(0.0);
        weights /= weights.sum();
    }
    // A polytope is bounded from above by its ball; witnesses must be in the polytope itself.
    if (parameters_.rows() && !parameters_.contains(weights, unit)) return false;
    const Vector inside = space.coordinates(weights);
    return std::ranges::all_of(balls_, [&](const Ball& ball) {
        const Vector offset = inside - ball.centre;
        if (ball.radius == 0) return offset.norm() <= unit * (1 + ball.centre.norm());
        return (ball.whitening * offset).norm() <= 1 + unit * (1 + ball.norm * (1 + ball.centre.norm()));
    });
}

SupportFunction::Goal SupportFunction::goal_of(std::span<const double> direction) const {
    const TangentSpace& space = parameters_.space();
    const Eigen::Map<const Vector> whole(direction.data(), parameters_.features());
    expects(whole.allFinite(), "direction has an element that is not finite");
    Goal goal{direction, space.centre.dot(whole), 0, whole.norm(), {}};
    const bool simplex = parameters_.kind() == ParameterSetKind::simplex;
    goal.tangent = space.basis.transpose() * whole;
    goal.scale =
        simplex ? whole.maxCoeff() - whole.minCoeff() : 2 * parameters_.radius() * goal.tangent.norm();
    if (goal.scale > 0) goal.tangent /= goal.scale;
    return goal;
}

/// The bound of the dual point that gives ball j the share whitening' parts_j of the direction and the
/// parameter set the rest: each set's own maximum, summed, and rounded up. Above the maximum for any parts
/// at all [theory §3g]: with the best nu, and mu the slack of it, the simplex's share has maximum nu.
double SupportFunction::dual_value(const Goal& goal, std::span<const Vector> parts) const {
    const TangentSpace& space = parameters_.space();
    Vector rest = goal.tangent;
    double sum = 0, size = 1 + rest.norm();
    for (std::size_t j = 0; j < parts.size(); ++j) {
        const Ball& ball = balls_[j];
        if (ball.radius == 0 || parts[j].size() == 0) continue;
        const Vector share = ball.whitening.transpose() * parts[j];
        const double length = parts[j].norm();
        rest -= share;
        sum += share.dot(ball.centre) + length;
        size += length * (1 + ball.norm * (1 + ball.centre.norm()));
    }
    if (parameters_.kind() == ParameterSetKind::simplex)
        sum += (space.basis * rest).maxCoeff();
    else
        sum += parameters_.radius() * rest.norm();
    const double unit = 4 * static_cast<double>(space.centre.size()) * std::numeric_limits<double>::epsilon();
    return goal.base + goal.scale * (sum + unit * size) + unit * goal.size;
}

/// Takes the point as witness if it is a member and better than what there is.
bool SupportFunction::offer(const Goal& goal, const Vector& coordinates, SupportBracket& result) const {
    Vector weights;
    if (!member(coordinates, weights)) return false;
    const double value = weights.dot(Eigen::Map<const Vector>(goal.direction.data(), weights.size()));
    if (value > result.lower || result.witness.size() == 0) {
        result.lower = value;
        result.witness = std::move(weights);
    }
    return true;
}

/// Upper ends of each set alone; true if one's best point is a member of all, which makes it exact.
bool SupportFunction::closed_forms(const Goal& goal, SupportBracket& result) const {
    const TangentSpace& space = parameters_.space();
    const Eigen::Map<const Vector> whole(goal.direction.data(), parameters_.features());
    if (parameters_.kind() == ParameterSetKind::simplex) {
        Index best = 0;
        result.upper = whole.maxCoeff(&best);
        if (goal.scale == 0) return offer(goal, anchor_, result);
        if (offer(goal, space.basis.row(best).transpose(), result)) return true;
    } else if (goal.scale == 0) {
        result.upper = goal.base + 4e-16 * goal.size;
        return offer(goal, anchor_, result);
    }
    std::vector<Vector> parts(balls_.size());
    for (std::size_t j = 0; j < balls_.size(); ++j) {
        const Ball& ball = balls_[j];
        Vector whitened = solve_lower(ball.factor, goal.tangent);
        const double norm = whitened.norm();
        const Vector top = ball.centre + solve_transposed(ball.factor, whitened * (ball.radius / norm));
        if (ball.radius == 0) {
            const double error = 1e-15 * static_cast<double>(whole.size()) * goal.size;
            result.upper = std::min(result.upper, goal.base + goal.scale * goal.tangent.dot(top) +
                                                      error * (1 + ball.centre.norm()));
        } else {
            parts[j] = ball.radius * whitened;
            result.upper = std::min(result.upper, dual_value(goal, parts));
            parts[j].resize(0);
        }
        if (offer(goal, top, result)) return true;
    }
    return false;
}

std::vector<detail::QuadraticConstraint> SupportFunction::quadratics() const {
    std::vector<detail::QuadraticConstraint> result;
    for (const Ball& ball : balls_) result.push_back({&ball.whitening, &ball.gram, &ball.centre});
    return result;
}

/// With a ball of radius 0 there is one candidate.
bool SupportFunction::settled_by_a_point() {
    for (const Ball& ball : balls_) {
        if (ball.radius > 0) continue;
        Vector weights;
        empty_ = !member(ball.centre, weights);
        if (!empty_) anchor_ = ball.centre;
        return true;
    }
    return false;
}

/// Looks for a member deep inside by letting all balls grow by a common slack and shrinking that; if no slack
/// below 0 exists, a dual point of the zero direction with a negative value proves that there is no member.
void SupportFunction::find_anchor() {
    const TangentSpace& space = parameters_.space();
    const bool simplex = parameters_.kind() == ParameterSetKind::simplex;
    if (settled_by_a_point()) return;
    const auto constraints = quadratics();
    detail::InteriorPoint solver(simplex ? space.basis : no_rows_, space.centre, constraints, true);
    solver.start({}, Vector::Zero(space.dimension()));
    Goal zero{{}, 0, 1, 0, Vector::Zero(space.dimension())};
    std::vector<Vector> parts(balls_.size());
    for (Index k = 0; k < options_.anchor_iterations; ++k) {
        // Half of the deepest is deep enough, and so is being far from every boundary.
        const double slack = solver.slack();
        if (slack < -0.5 || (slack < 0 && solver.complementarity() < -0.5 * slack)) break;
        for (std::size_t j = 0; j < parts.size(); ++j) parts[j] = solver.part(j);
        if (dual_value(zero, parts) < 0) {
            empty_ = true;
            return;
        }
        if (!solver.step()) break;
    }
    Vector weights;
    interior_ = solver.slack() < 0;
    if (interior_ || member(solver.x(), weights)) anchor_ = solver.x();
}

void SupportFunction::climb(const Goal& goal, SupportBracket& result) const {
    const TangentSpace& space = parameters_.space();
    const bool simplex = parameters_.kind() == ParameterSetKind::simplex;
    const auto constraints = quadratics();
    detail::InteriorPoint solver(simplex ? space.basis : no_rows_, space.centre, constraints, false);
    solver.start(goal.tangent, anchor_);
    std::vector<Vector> parts(balls_.size());
    const double wanted = options_.tolerance * goal.scale;
    while (result.iterations < options_.iterations) {
        if (!solver.step()) break;
        ++result.iterations;
        for (std::size_t j = 0; j < parts.size(); ++j) parts[j] = solver.part(j);
        result.upper = std::min(result.upper, dual_value(goal, parts));
        offer(goal, solver.x(), result);
        if (result.upper - result.lower <= wanted) break;
    }
}

SupportBracket SupportFunction::bracket(std::span<const double> direction) const {
    expects(direction.size() == static_cast<std::size_t>(parameters_.features()),
            "direction has {} elements; must have {}", direction.size(), parameters_.features());
    const Goal goal = goal_of(direction);
    SupportBracket result{-infinity, infinity, {}, SupportStatus::limit, 0};
    if (empty_) {
        result.upper = -infinity;
        result.status = SupportStatus::empty;
        return result;
    }
    if (anchor_.size() == parameters_.space().dimension()) offer(goal, anchor_, result);
    if (closed_forms(goal, result)) {
        result.status = SupportStatus::exact;
    } else {
        if (interior_) climb(goal, result);
        if (result.upper - result.lower <= options_.tolerance * goal.scale)
            result.status = SupportStatus::converged;
    }
    // A member up to rounding may be above the bound by rounding.
    result.lower = std::min(result.lower, result.upper);
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
