#include "nearest_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "accurate_sum.hpp"

namespace alidade::detail {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// A normal is a combination of the active ones if less than this share of it is left over.
constexpr double dependent = 1e-12;

}  // namespace

NearestPoint::NearestPoint(Index dimension)
    : p_(dimension),
      active_(static_cast<std::size_t>(dimension)),
      work_(static_cast<std::size_t>(2 * dimension * dimension + 8 * dimension)),
      q_(work_.data(), dimension, dimension),
      r_(q_.data() + dimension * dimension, dimension, dimension),
      z_(r_.data() + dimension * dimension, dimension),
      multipliers_(z_.data() + dimension, dimension),
      share_(multipliers_.data() + dimension, dimension),
      along_(share_.data() + dimension, dimension),
      direction_(along_.data() + dimension, dimension),
      inside_(direction_.data() + dimension, dimension),
      step_(inside_.data() + dimension, dimension),
      active_offsets_(step_.data() + dimension, dimension) {}

void NearestPoint::reserve(Index constraints) {
    records_.reserve(static_cast<std::size_t>(constraints * (p_ + 2)));
    state_.reserve(static_cast<std::size_t>(constraints));
}

NearestPoint::Block NearestPoint::append_record(double offset) {
    records_.resize(static_cast<std::size_t>((count_ + 1) * (p_ + 2)));
    double* record = records_.data() + count_ * (p_ + 2);
    record[p_] = offset;
    return {record, p_};
}

Index NearestPoint::close_record() {
    records_[static_cast<std::size_t>(count_ * (p_ + 2) + p_ + 1)] = normal(count_).norm();
    offset_scale_ = std::max(offset_scale_, 1 + std::abs(offset(count_)));
    state_.push_back(State::inactive);
    return count_++;
}

void NearestPoint::ignore(Index constraint) {
    state_[static_cast<std::size_t>(constraint)] = State::ignored;
    polish();  // the search had begun to move towards it
}

NearestStatus NearestPoint::solve() {
    // Each addition raises the distance strictly, so no active set returns; the cap is for rounding.
    const Index limit = iterations_ + 50 * (count_ + 1);
    for (int polished = 0;;) {
        const Index worst = most_violated();
        if (worst < 0) {
            // The point from scratch may reveal a violation that rounding of the steps hid.
            polish();
            if (++polished >= 3 || most_violated() < 0) return NearestStatus::solved;
            continue;
        }
        if (!take_up(worst)) {
            offender_ = worst;
            return NearestStatus::infeasible;
        }
        if (iterations_ > limit) {
            polish();
            return NearestStatus::iteration_limit;
        }
    }
}

Index NearestPoint::most_violated() {
    // What rounding can make of a product and an offset is no violation: taking it up could go on for ever.
    const double floor = 1e-14 * offset_scale_, slope = 4 * epsilon * z_.norm();
    Index worst = -1;
    double least = 0;
    for (Index i = 0; i < count_; ++i) {
        if (state_[static_cast<std::size_t>(i)] != State::inactive) continue;
        const double slack = normal(i).dot(z_) - offset(i);
        if (slack >= -(floor + slope * norm(i))) continue;
        // Deepest in the metric, not in the units of the constraint: fewer steps.
        const double depth = slack / std::max(norm(i), 1e-300);
        if (worst < 0 || depth < least) least = depth, worst = i;
    }
    return worst;
}

/// Takes from `direction_` what is left of it along the active normals, and adds that to `along_`.
void NearestPoint::orthogonalise() {
    const auto q = q_.leftCols(k_);
    auto again = inside_.head(k_);
    again.noalias() = q.transpose().lazyProduct(direction_);
    direction_.noalias() -= q.lazyProduct(again);
    along_.head(k_) += again;
}

/// Splits a normal into its part along the active ones and the rest, by Gram-Schmidt: normal equations would
/// square the condition number. Where much cancels it is done twice, which is enough (Kahan and Parlett).
void NearestPoint::resolve(Index constraint) {
    direction_ = normal(constraint);
    if (k_ == 0) return;
    along_.head(k_).setZero();
    orthogonalise();
    if (direction_.squaredNorm() < 0.5 * norm(constraint) * norm(constraint)) orthogonalise();
}

/// share_ = r_^-1 along_: the coefficients of the normal's projection onto the active normals.
void NearestPoint::solve_shares() {
    for (Index i = 0; i < k_; ++i) share_[i] = along_[i];
    for (Index j = k_ - 1; j >= 0; --j) {
        const double value = share_[j] /= r_(j, j);
        for (Index i = 0; i < j; ++i) share_[i] -= value * r_(i, j);
    }
}

bool NearestPoint::take_up(Index constraint) {
    const double least = dependent * norm(constraint);
    double multiplier = 0;
    bool dropped = false;
    resolve(constraint);
    while (true) {
        ++iterations_;
        solve_shares();
        const double curvature = direction_.squaredNorm();
        const bool free = k_ < p_ && curvature > least * least;
        const double slack = normal(constraint).dot(z_) - offset(constraint);
        // As far as makes the constraint hold with equality; no distance does if its normal depends on the
        // active ones.
        const double full = free ? std::max(0.0, -slack / curvature) : infinity;
        // Or until the multiplier of an active constraint is zero: beyond that it would pull, and it is
        // dropped.
        double partial = infinity;
        Index blocking = 0;
        for (Index j = 0; j < k_; ++j) {
            const double rate = share_[j];
            const double reach = multipliers_[j];
            if (rate > 0 && reach < partial * rate) partial = reach / rate, blocking = j;
        }
        const double step = std::min(full, partial);
        if (!std::isfinite(step)) {
            // The normal is a combination of active ones in which no share is positive. Turned round, the
            // shares add up constraints to one that no point satisfies (Farkas): a certificate.
            for (Index j = 0; j < k_; ++j) share_[j] *= -1;
            return false;
        }
        if (free) z_ += step * direction_;
        for (Index j = 0; j < k_; ++j) multipliers_[j] = std::max(0.0, multipliers_[j] - step * share_[j]);
        multiplier += step;
        if (full <= partial) {
            // Removals on the way have turned the factors.
            if (dropped && k_ > 0) orthogonalise();
            append(constraint, multiplier);
            return true;
        }
        drop(blocking);
        dropped = true;
    }
}

void NearestPoint::append(Index constraint, double multiplier) {
    r_.col(k_).head(k_) = along_.head(k_);
    r_(k_, k_) = direction_.norm();
    q_.col(k_) = direction_ / r_(k_, k_);
    active_[size()] = constraint;
    multipliers_[k_] = multiplier;
    state_[static_cast<std::size_t>(constraint)] = State::active;
    ++k_;
}

/// Takes a column out of the factors: rotations of neighbouring rows restore the triangle.
void NearestPoint::drop(Index position) {
    state_[static_cast<std::size_t>(active_[static_cast<std::size_t>(position)])] = State::inactive;
    const auto from = static_cast<std::ptrdiff_t>(position), end = static_cast<std::ptrdiff_t>(k_);
    std::move(active_.begin() + from + 1, active_.begin() + end, active_.begin() + from);
    std::move(multipliers_.data() + from + 1, multipliers_.data() + end, multipliers_.data() + from);
    for (Index j = position; j + 1 < k_; ++j) r_.col(j).head(j + 2) = r_.col(j + 1).head(j + 2);
    for (Index i = position; i + 1 < k_; ++i) {
        const double length = std::hypot(r_(i, i), r_(i + 1, i));
        const double c = r_(i, i) / length, s = r_(i + 1, i) / length;
        r_(i, i) = length;
        for (Index j = i + 1; j + 1 < k_; ++j) {
            const double above = r_(i, j), below = r_(i + 1, j);
            r_(i, j) = c * above + s * below;
            r_(i + 1, j) = c * below - s * above;
        }
        double *left = q_.col(i).data(), *right = q_.col(i + 1).data();
        for (Index row = 0; row < p_; ++row) {
            const double a = left[row], b = right[row];
            left[row] = c * a + s * b;
            right[row] = c * b - s * a;
        }
        const double a = along_[i], b = along_[i + 1];
        along_[i] = c * a + s * b;
        along_[i + 1] = c * b - s * a;
    }
    --k_;
    // The last column of the turned factor is free again, and so is the normal's part along it.
    direction_ += along_[k_] * q_.col(k_);
}

/// The least-norm point with the given products with the active normals; inside_ keeps its coordinates.
void NearestPoint::least_norm(const double* products, Block& out) {
    for (Index j = 0; j < k_; ++j) {
        double sum = products[j];
        for (Index i = 0; i < j; ++i) sum -= r_(i, j) * inside_[i];
        inside_[j] = sum / r_(j, j);
    }
    out.setZero();
    if (k_ > 0) out.noalias() = q_.leftCols(k_).lazyProduct(inside_.head(k_));
}

/// Point and multipliers of the active face from its factors: drops what rounding the steps piled up.
void NearestPoint::polish() {
    for (Index j = 0; j < k_; ++j) active_offsets_[j] = offset(active_[static_cast<std::size_t>(j)]);
    least_norm(active_offsets_.data(), z_);
    along_.head(k_) = inside_.head(k_);
    solve_shares();
    // Negative by rounding only, and whoever measures the gap with them needs them to be >= 0.
    for (Index j = 0; j < k_; ++j) multipliers_[j] = std::max(0.0, share_[j]);
}

NearestPoint::View NearestPoint::shift(std::span<const double> change) {
    least_norm(change.data(), step_);
    z_ += step_;
    return {step_.data(), p_};
}

}  // namespace alidade::detail
