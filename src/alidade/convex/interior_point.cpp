#include "interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace alidade::detail {

InteriorPoint::InteriorPoint(const Matrix& rows, const Vector& offset,
                             std::span<const QuadraticConstraint> quadratics, bool slack)
    : rows_(rows),
      offset_(offset),
      quadratics_(quadratics.begin(), quadratics.end()),
      has_slack_(slack),
      p_(quadratics.front().centre->size()),
      n_(p_ + (slack ? 1 : 0)),
      values_(constraints()),
      multipliers_(constraints()),
      whitened_(quadratics.size(), Vector(p_)),
      gradients_(quadratics.size(), Vector(n_)),
      hessian_(n_, n_) {
    for (Direction* each : {&affine_, &combined_}) {
        each->x.resize(n_);
        each->values.resize(constraints());
        each->multipliers.resize(constraints());
        each->curvature.resize(at(quadratics_.size()));
    }
}

void InteriorPoint::start(const Vector& objective, const Vector& x) {
    x_ = x;
    barrier_ = 0;
    on_path_ = false;
    if (has_slack_) {
        double most = 0;
        for (const QuadraticConstraint& each : quadratics_)
            most = std::max(most, (*each.whitening * (x - *each.centre)).squaredNorm());
        if (rows_.cols() > p_)
            for (Index i = 0; i < lines(); ++i) {
                const double value = offset_[i] + rows_.row(i).head(p_).dot(x);
                most = std::max(most, -value / rows_(i, p_));
            }
        // So large that whatever the slack loosens holds strictly at x: the search starts inside.
        slack_ = 2 * most + 1;
        objective_ = Vector::Zero(n_);
        objective_[p_] = -1;
    } else {
        objective_ = objective;
    }
    measure();
    // On the central path the products are equal; their size is that of what is to be gained.
    const double share = (has_slack_ ? slack_ + 1 : 1) / static_cast<double>(constraints());
    for (Index i = 0; i < constraints(); ++i) multipliers_[i] = share / values_[i];
}

double InteriorPoint::complementarity() const {
    double sum = 0;
    for (Index i = 0; i < constraints(); ++i) sum += values_[i] * multipliers_[i];
    return sum;
}

/// Constraint values and gradients at x, from scratch; false unless all are strictly positive.
bool InteriorPoint::measure() {
    for (Index i = 0; i < lines(); ++i) {
        double sum = offset_[i];
        for (Index k = 0; k < p_; ++k) sum += rows_(i, k) * x_[k];
        if (rows_.cols() > p_) sum += rows_(i, p_) * slack_;
        values_[i] = sum;
    }
    for (std::size_t j = 0; j < quadratics_.size(); ++j) {
        const Matrix& w = *quadratics_[j].whitening;
        const Vector& c = *quadratics_[j].centre;
        Vector &u = whitened_[j], &g = gradients_[j];
        double square = 0;
        g.setZero();
        for (Index i = 0; i < p_; ++i) {
            double sum = 0;
            for (Index k = i; k < p_; ++k) sum += w(i, k) * (x_[k] - c[k]);
            u[i] = sum;
            square += sum * sum;
            for (Index k = i; k < p_; ++k) g[k] += w(i, k) * sum;
        }
        if (has_slack_) g[p_] = -0.5;
        // Half of it, so that the gradient is minus whitening' u, without a factor.
        values_[lines() + at(j)] = 0.5 * (1 + slack_ - square);
    }
    return values_.minCoeff() > 0;
}

bool InteriorPoint::factorise() {
    // Newton's equations with the changes of the multipliers eliminated: the quadratics' own curvature, and
    // each constraint's gradient squared, times multiplier over value.
    hessian_.setZero();
    const auto add = [&](double weight, const auto& vector, Index size) {
        for (Index c = 0; c < size; ++c) {
            const double scaled = weight * vector[c];
            for (Index r = c; r < size; ++r) hessian_(r, c) += scaled * vector[r];
        }
    };
    for (std::size_t j = 0; j < quadratics_.size(); ++j) {
        const Index i = lines() + at(j);
        const Matrix& gram = *quadratics_[j].gram;
        for (Index c = 0; c < p_; ++c)
            for (Index r = c; r < p_; ++r) hessian_(r, c) += multipliers_[i] * gram(r, c);
        add(multipliers_[i] / values_[i], gradients_[j], n_);
    }
    for (Index i = 0; i < lines(); ++i) add(multipliers_[i] / values_[i], rows_.row(i), rows_.cols());
    for (Index c = 0; c < n_; ++c) {
        const double diagonal = hessian_(c, c);
        for (Index k = 0; k < c; ++k) {
            const double scaled = hessian_(c, k);
            for (Index r = c; r < n_; ++r) hessian_(r, c) -= hessian_(r, k) * scaled;
        }
        // A pivot lost to rounding belongs to a direction that is held fast already.
        if (!(hessian_(c, c) > 1e-15 * diagonal)) hessian_(c, c) = std::max(diagonal, 1e-300) * 1e15;
        const double root = std::sqrt(hessian_(c, c));
        for (Index r = c; r < n_; ++r) hessian_(r, c) /= root;
    }
    return hessian_.allFinite();
}

void InteriorPoint::solve(Vector& right) const {
    for (Index i = 0; i < n_; ++i) {
        for (Index k = 0; k < i; ++k) right[i] -= hessian_(i, k) * right[k];
        right[i] /= hessian_(i, i);
    }
    for (Index i = n_ - 1; i >= 0; --i) {
        for (Index k = i + 1; k < n_; ++k) right[i] -= hessian_(k, i) * right[k];
        right[i] /= hessian_(i, i);
    }
}

/// Newton's direction towards products value * multiplier = target, with `twist` taken off the stationarity
/// equation: objective + rows' mu - sum of kappa gradient = 0.
void InteriorPoint::move(const Vector& target, const Vector& twist, Direction& out) const {
    out.x = objective_ - twist;
    for (Index i = 0; i < lines(); ++i) {
        const double weight = target[i] / values_[i];
        for (Index k = 0; k < rows_.cols(); ++k) out.x[k] += weight * rows_(i, k);
    }
    for (std::size_t j = 0; j < quadratics_.size(); ++j) {
        const Index i = lines() + at(j);
        out.x -= (target[i] / values_[i]) * gradients_[j];
    }
    solve(out.x);
    for (Index i = 0; i < lines(); ++i) {
        double sum = 0;
        for (Index k = 0; k < rows_.cols(); ++k) sum += rows_(i, k) * out.x[k];
        out.values[i] = sum;
    }
    for (std::size_t j = 0; j < quadratics_.size(); ++j) {
        out.values[lines() + at(j)] = -gradients_[j].dot(out.x);
        const Matrix& w = *quadratics_[j].whitening;
        double square = 0;
        for (Index i = 0; i < p_; ++i) {
            double sum = 0;
            for (Index k = i; k < p_; ++k) sum += w(i, k) * out.x[k];
            square += sum * sum;
        }
        out.curvature[at(j)] = 0.5 * square;
    }
    for (Index i = 0; i < constraints(); ++i)
        out.multipliers[i] = (target[i] - multipliers_[i] * out.values[i]) / values_[i] - multipliers_[i];
}

/// The step at which a constraint reaches zero.
double InteriorPoint::exit(const Direction& along, Index i) const {
    const double slope = -along.values[i];
    const double bend = i < lines() ? 0.0 : along.curvature[i - lines()];
    if (bend == 0) return slope > 0 ? values_[i] / slope : std::numeric_limits<double>::infinity();
    // value - slope t - bend t^2 = 0, the positive root without cancellation
    const double root = std::sqrt(slope * slope + 4 * bend * values_[i]);
    return slope > 0 ? 2 * values_[i] / (slope + root) : (root - slope) / (2 * bend);
}

/// The step at which the first constraint or multiplier reaches zero.
double InteriorPoint::longest(const Direction& along) const {
    double length = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < constraints(); ++i) {
        length = std::min(length, exit(along, i));
        if (along.multipliers[i] < 0) length = std::min(length, -multipliers_[i] / along.multipliers[i]);
    }
    return length;
}

/// The complementarity after a step of this length.
double InteriorPoint::after(const Direction& along, double length) const {
    double sum = 0;
    for (Index i = 0; i < constraints(); ++i) {
        const double bend = i < lines() ? 0.0 : along.curvature[i - lines()];
        sum += (values_[i] + length * (along.values[i] - length * bend)) *
               (multipliers_[i] + length * along.multipliers[i]);
    }
    return sum;
}

/// Second-order terms of the products along the predictor; `twist` gets those of stationarity.
Vector InteriorPoint::correction(const Direction& affine, Vector& twist) const {
    Vector result = affine.values.cwiseProduct(affine.multipliers);
    twist.setZero();
    for (std::size_t j = 0; j < quadratics_.size(); ++j) {
        const Index i = lines() + at(j);
        result[i] -= multipliers_[i] * affine.curvature[at(j)];
        const Matrix& gram = *quadratics_[j].gram;
        for (Index c = 0; c < p_; ++c)
            for (Index r = 0; r < p_; ++r) twist[r] += affine.multipliers[i] * gram(r, c) * affine.x[c];
    }
    return result;
}

/// The step along which objective / barrier + sum of log values is largest: both are concave, so by bisection
/// on the slope. At least the damped step, which is safe for self-concordant barriers.
double InteriorPoint::best_length(const Direction& along, double damped) const {
    double most = 1e6;
    for (Index i = 0; i < constraints(); ++i) most = std::min(most, exit(along, i));
    const double gain = objective_.dot(along.x) / barrier_;
    // Short of the boundary, where the logarithm is minus infinity.
    double low = damped, high = 0.99 * most;
    for (int k = 0; k < 20 && low < high; ++k) {
        const double middle = 0.5 * (low + high);
        double slope = gain;
        for (Index i = 0; i < constraints(); ++i) {
            const double bend = i < lines() ? 0.0 : along.curvature[i - lines()];
            slope += (along.values[i] - 2 * middle * bend) /
                     (values_[i] + middle * (along.values[i] - middle * bend));
        }
        (slope > 0 ? low : high) = middle;
    }
    return low;
}

/// A Newton step of the logarithmic barrier method, which converges from anywhere: towards the point of the
/// central path with products `barrier_`, and on to smaller ones from there.
bool InteriorPoint::centre() {
    for (Index i = 0; i < constraints(); ++i) multipliers_[i] = barrier_ / values_[i];
    if (!factorise()) return false;
    move(Vector::Constant(constraints(), barrier_), Vector::Zero(n_), combined_);
    double square = 0;
    for (Index c = 0; c < n_; ++c) {
        double sum = 0;
        for (Index r = c; r < n_; ++r) sum += hessian_(r, c) * combined_.x[r];
        square += sum * sum;
    }
    // With multipliers barrier/value the Hessian is the barrier times that of minus the sum of logarithms, so
    // this is Newton's decrement.
    const double decrement = std::sqrt(square / barrier_);
    if (!std::isfinite(decrement)) return false;
    if (decrement >= 0.3) {
        const double length = best_length(combined_, 1 / (1 + decrement));
        // Off the path its points farther back are nearer; once on it, there is no need to go back.
        if (!on_path_) barrier_ = std::min(barrier_ * std::clamp(decrement, 1.0, 10.0), most_barrier_);
        return advance(length, false);
    }
    on_path_ = true;
    barrier_ *= 0.1;
    return advance(1.0, true);
}

/// Goes along `combined_`, or less far where rounding demands it.
bool InteriorPoint::advance(double length, bool with_multipliers) {
    const Vector x = x_;
    const double slack = slack_;
    // A constraint that is positive in exact arithmetic may be measured as zero near the boundary.
    for (int attempt = 0; attempt < 3; ++attempt, length *= 0.5) {
        x_ = x + length * combined_.x.head(p_);
        if (has_slack_) slack_ = slack + length * combined_.x[p_];
        if (!measure()) continue;
        if (with_multipliers) multipliers_ += length * combined_.multipliers;
        return multipliers_.minCoeff() > 0;
    }
    x_ = x;
    slack_ = slack;
    measure();
    return false;
}

bool InteriorPoint::step() {
    // No proof rests on these steps: an iterate only proposes a dual point, whose bound is computed from
    // scratch [docs/algorithms/numerics.md, Support function].
    if (barrier_ > 0) return centre();
    if (!factorise()) return false;
    const double now = complementarity(), each = now / static_cast<double>(constraints());
    Vector twist = Vector::Zero(n_);
    move(Vector::Zero(constraints()), twist, affine_);
    const double reach = std::min(1.0, longest(affine_));
    const double ratio = std::clamp(after(affine_, reach) / now, 0.0, 1.0);
    // Corrections of a predictor that was cut short are out of proportion: scale them to what it reached.
    const Vector second = reach * reach * correction(affine_, twist);
    twist *= reach * reach;
    // Mehrotra's rule: the more the predictor reduces the products, the less is centred.
    move(Vector::Constant(constraints(), ratio * ratio * ratio * each) - second, twist, combined_);
    const double length = longest(combined_);
    if (length >= 0.1 && combined_.x.allFinite() && advance(std::min(1.0, 0.995 * length), true)) return true;
    // Off the path: a quadratic constraint whose multiplier has all but vanished lends the Hessian no
    // curvature, and further steps would run into it again and again. The barrier method does not.
    barrier_ = each;
    most_barrier_ = 100 * each;
    return centre();
}

}  // namespace alidade::detail
