#include <algorithm>
#include <cmath>
#include <limits>

#include "accurate_sum.hpp"
#include "support_program.hpp"

namespace alidade {

/// Nearby points of thin sets differ in their last digits only; counted from one of them they do not.
void SupportFunction::move_origin(const Vector& origin) {
    origin_ = origin;
    const Index p = origin.size();
    for (Ball& ball : balls_) {
        ball.offset.resize(p);
        for (Index k = 0; k < p; ++k) {
            detail::AccurateSum sum;
            for (Index i = k; i < p; ++i) {
                sum.add_product(ball.factor(i, k), ball.centre[i]);
                sum.add_product(-ball.factor(i, k), origin[i]);
            }
            ball.offset[k] = sum.value();
        }
    }
    const ProbabilityRows* rows = parameters_.rows();
    if (!rows) return;
    row_values_.resize(rows->entries());
    for (Index entry = 0; entry < rows->entries(); ++entry) {
        detail::AccurateSum sum(rows->centre[at(entry)]);
        for (Index k = 0; k < p; ++k) sum.add_product(rows->normal(entry)[k], origin[k]);
        row_values_[entry] = sum.value();
    }
}

/// Half the extent of the smallest ball along a normal.
double SupportFunction::half_width(const Vector& normal) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Ball& ball : balls_) {
        const Vector whitened = ball.factor.triangularView<Eigen::Lower>().solve(normal);
        least = std::min(least, ball.radius * whitened.norm());
    }
    return least;
}

/// By how much searches may break an inequality of the polytope.
double SupportFunction::leeway(Index entry) const {
    if (leeway_ == 0) return 0;
    const ProbabilityRows& rows = *parameters_.rows();
    return leeway_ * (rows.normal(entry).norm() * extent_ + std::abs(rows.centre[at(entry)]));
}

/// The simplex's inequalities are all there and hold strictly; those of a polytope are cuts, and loosened
/// by the slack in proportion to what the balls leave them.
SupportFunction::Program SupportFunction::program(std::span<const Index> cuts, bool slack) const {
    const TangentSpace& space = parameters_.space();
    const Index p = space.dimension(), count = static_cast<Index>(cuts.size());
    Program result;
    if (parameters_.kind() == ParameterSetKind::simplex) {
        result.rows = space.basis;
        result.offsets = space.weights(origin_);
    } else {
        result.rows.resize(count, p + (slack && count > 0 ? 1 : 0));
        result.offsets.resize(count);
        for (Index c = 0; c < count; ++c) {
            const Vector normal = parameters_.rows()->normal(cuts[at(c)]);
            result.rows.row(c).head(p) = normal;
            // Loosened for the search only: upper ends use the inequality as it is.
            result.offsets[c] = row_values_[cuts[at(c)]] + leeway(cuts[at(c)]);
            if (slack) result.rows(c, p) = std::max(half_width(normal), 1e-300);
        }
    }
    for (const Ball& ball : balls_) result.centres.push_back(ball.centre - origin_);
    for (std::size_t j = 0; j < balls_.size(); ++j)
        result.quadratics.push_back({&balls_[j].whitening, &balls_[j].gram, &result.centres[j]});
    return result;
}

/// With a ball of radius 0 there is one candidate.
bool SupportFunction::settled_by_a_point() {
    for (const Ball& ball : balls_) {
        if (ball.radius > 0) continue;
        Vector weights;
        empty_ = !member(ball.centre, weights);
        if (!empty_) {
            move_origin(ball.centre);
            anchor_ = Vector::Zero(ball.centre.size());
        }
        return true;
    }
    return false;
}

/// Lets all balls and cuts grow by a common slack and shrinks that, from the origin plus x to one deep inside
/// all of them; false if a dual point of the zero direction with a negative value proves that there is none.
bool SupportFunction::descend(Index& steps, Vector& x) {
    const Program constraints = program(cuts_, true);
    detail::InteriorPoint solver(constraints.rows, constraints.offsets, constraints.quadratics, true);
    solver.start({}, x);
    Goal zero;
    zero.scale = 1;
    zero.tangent = Vector::Zero(x.size());
    std::vector<Vector> parts(balls_.size());
    Vector multipliers(static_cast<Index>(cuts_.size()));
    for (; steps < options_.anchor_iterations; ++steps) {
        // Half of the deepest is deep enough, and so is being far from every boundary.
        const double slack = solver.slack();
        if (slack < -0.5 || (slack < 0 && solver.complementarity() < -0.5 * slack)) break;
        for (std::size_t j = 0; j < parts.size(); ++j) parts[j] = solver.part(j);
        for (Index c = 0; c < multipliers.size(); ++c) multipliers[c] = solver.multiplier(c);
        // Over any member the zero direction has the value 0, so a negative upper bound proves that there is
        // none. Dual values are rounded up, and so cannot be negative by rounding.
        if (dual_value(zero, parts, cuts_, multipliers) < -1e-200) return false;
        if (!solver.step()) break;
    }
    x = solver.x();
    interior_ = solver.slack() < 0;
    return true;
}

/// Looks for a member deep inside: again from where the last search ended, with its digits, and with the
/// inequalities that it broke.
void SupportFunction::find_anchor() {
    if (settled_by_a_point()) return;
    Vector x = Vector::Zero(parameters_.space().dimension());
    Index steps = 0;
    for (int moves = 0; steps < options_.anchor_iterations || moves == 0;) {
        const Index before = steps;
        if (!descend(steps, x)) {
            empty_ = true;
            return;
        }
        if (add_cuts(x, 1e-6, cuts_)) {
            interior_ = false;
            if (steps == before) break;
            continue;
        }
        if (moves >= 2 || (interior_ && moves >= 1)) break;
        const Vector there = origin_ + x;
        if (parameters_.kind() == ParameterSetKind::simplex &&
            !(parameters_.space().weights(there).minCoeff() > 0))
            break;
        move_origin(there);
        x.setZero();
        ++moves;
    }
    Vector weights;
    if (interior_ || member(origin_ + x, weights)) anchor_ = x;
}

/// The last point before a polytope's boundary on the way from the anchor.
Vector SupportFunction::clipped(const Vector& x) const {
    const ProbabilityRows* rows = parameters_.rows();
    if (!rows) return x;
    double share = 1;
    for (Index entry = 0; entry < rows->entries(); ++entry) {
        const double here = row_values_[entry] + leeway(entry), ahead = here + rows->normal(entry).dot(x);
        if (ahead >= 0) continue;
        // The inequality falls linearly from `left` at the anchor to `ahead` at x.
        const double left = std::max(0.0, here + rows->normal(entry).dot(anchor_));
        share = std::min(share, left / (left - ahead));
    }
    return anchor_ + share * (x - anchor_);
}

/// Adds the inequalities that x breaks most, for their size, or holds by less than the margin of what the
/// balls leave them; false if there are none that are not cuts.
bool SupportFunction::add_cuts(const Vector& x, double margin, std::vector<Index>& cuts) const {
    const ProbabilityRows* rows = parameters_.rows();
    if (!rows) return false;
    std::vector<std::pair<double, Index>> broken;
    for (Index entry = 0; entry < rows->entries(); ++entry) {
        const double value = row_values_[entry] + leeway(entry) + rows->normal(entry).dot(x);
        const double norm = rows->normal(entry).norm();
        // The width is worth its price only where the value is small.
        if (value >= margin * norm * extent_) continue;
        if (value >= 0 && value >= margin * half_width(rows->normal(entry))) continue;
        if (std::ranges::find(cuts, entry) != cuts.end()) continue;
        broken.emplace_back(value / std::max(norm, 1e-300), entry);
    }
    const std::size_t most = 2 * at(x.size() + 1);
    if (broken.size() > most) {
        std::ranges::nth_element(broken, broken.begin() + static_cast<std::ptrdiff_t>(most));
        broken.resize(most);
    }
    for (const auto& [depth, entry] : broken) cuts.push_back(entry);
    return !broken.empty();
}

/// What the parts lack for stationarity, which an ill-conditioned metric blows up, goes to the ball for which
/// it costs least: the parameter set is wide, and would charge more.
void SupportFunction::complete(const Goal& goal, const detail::InteriorPoint& solver,
                               const Program& constraints, std::vector<Vector>& parts) const {
    Vector lack = goal.tangent;
    for (std::size_t j = 0; j < parts.size(); ++j) lack -= balls_[j].whitening.transpose() * parts[j];
    for (Index i = 0; i < constraints.rows.rows(); ++i)
        lack += solver.multiplier(i) * constraints.rows.row(i).transpose();
    double least = std::numeric_limits<double>::infinity();
    std::size_t cheapest = 0;
    Vector addition = Vector::Zero(lack.size());
    for (std::size_t j = 0; j < parts.size(); ++j) {
        Vector part = balls_[j].radius * lack;
        balls_[j].factor.triangularView<Eigen::Lower>().solveInPlace(part);
        const double cost = part.norm();
        if (!(cost < least)) continue;
        least = cost;
        cheapest = j;
        addition = std::move(part);
    }
    parts[cheapest] += addition;
}

/// One search with the given cuts; true if more of them were added, with which to search again.
bool SupportFunction::climb_within(const Goal& goal, std::vector<Index>& cuts, SupportBracket& result) const {
    const Program constraints = program(cuts, false);
    detail::InteriorPoint solver(constraints.rows, constraints.offsets, constraints.quadratics, false);
    solver.start(goal.tangent, anchor_);
    std::vector<Vector> parts(balls_.size());
    Vector multipliers(static_cast<Index>(cuts.size()));
    const double wanted = options_.tolerance * goal.unit();
    while (result.iterations < options_.iterations) {
        if (!solver.step()) break;
        ++result.iterations;
        for (std::size_t j = 0; j < parts.size(); ++j) parts[j] = solver.part(j);
        for (Index c = 0; c < multipliers.size(); ++c) multipliers[c] = solver.multiplier(c);
        double bound = dual_value(goal, parts, cuts, multipliers);
        complete(goal, solver, constraints, parts);
        bound = std::min(bound, dual_value(goal, parts, cuts, multipliers));
        // Each iterate's split is a proof by itself, so the least counts, also if later ones are worse.
        result.upper = std::min(result.upper, bound);
        // Inequalities that were left out may be broken at x: a lower end must come from a member.
        const Vector inside = clipped(solver.x());
        offer(goal, origin_ + inside, result);
        if (result.upper - result.lower <= wanted) return false;
        // Once most of what is missing is due to inequalities that were left out, take them up.
        const double ahead = goal.scale * goal.tangent.dot(solver.x());
        const double lost = ahead - goal.scale * goal.tangent.dot(inside);
        if (bound - (goal.shift + goal.base + ahead) < lost && add_cuts(solver.x(), 0, cuts)) return true;
    }
    return result.iterations < options_.iterations && add_cuts(solver.x(), 0, cuts);
}

void SupportFunction::climb(const Goal& goal, SupportBracket& result) const {
    std::vector<Index> cuts = cuts_;
    while (climb_within(goal, cuts, result)) {
    }
}

}  // namespace alidade
