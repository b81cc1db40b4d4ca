#include "nearest_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace alidade::detail {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
/// A normal is a combination of the active ones if less than this share of it is left over.
constexpr double dependent = 1e-12;

}  // namespace

NearestPoint::NearestPoint(Index dimension)
    : p_(dimension),
      z_(Vector::Zero(dimension)),
      q_(dimension, dimension),
      r_(dimension, dimension),
      active_(static_cast<std::size_t>(dimension)),
      multipliers_(static_cast<std::size_t>(dimension)),
      share_(static_cast<std::size_t>(dimension)),
      along_(dimension),
      direction_(dimension),
      inside_(dimension),
      step_(dimension),
      active_offsets_(dimension) {}

void NearestPoint::reserve(Index constraints) {
    if (constraints <= normals_.cols()) return;
    normals_.conservativeResize(p_, constraints);
    offsets_.conservativeResize(constraints);
    norms_.conservativeResize(constraints);
    slack_.resize(constraints);
    state_.resize(static_cast<std::size_t>(constraints));
}

Index NearestPoint::add(const Vector& normal, double offset) {
    if (count_ == normals_.cols()) reserve(std::max<Index>(2 * count_, 16));
    normals_.col(count_) = normal;
    norms_[count_] = normal.norm();
    offsets_[count_] = offset;
    offset_scale_ = std::max(offset_scale_, 1 + std::abs(offset));
    state_[static_cast<std::size_t>(count_)] = State::inactive;
    return count_++;
}

void NearestPoint::add(const Matrix& normals, const Vector& offsets) {
    reserve(count_ + offsets.size());
    normals_.middleCols(count_, offsets.size()) = normals;
    for (Index i = 0; i < offsets.size(); ++i, ++count_) {
        norms_[count_] = normals_.col(count_).norm();
        offsets_[count_] = offsets[i];
        offset_scale_ = std::max(offset_scale_, 1 + std::abs(offsets[i]));
        state_[static_cast<std::size_t>(count_)] = State::inactive;
    }
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
    slack_.head(count_) = -offsets_.head(count_);
    slack_.head(count_).noalias() += normals_.leftCols(count_).transpose() * z_;
    const double floor = 1e-14 * offset_scale_, slope = 4 * epsilon * z_.norm();
    Index worst = -1;
    double least = 0;
    for (Index i = 0; i < count_; ++i) {
        if (slack_[i] >= -(floor + slope * norms_[i])) continue;
        if (state_[static_cast<std::size_t>(i)] != State::inactive) continue;
        // Deepest in the metric, not in the units of the constraint: fewer steps.
        const double depth = slack_[i] / std::max(norms_[i], 1e-300);
        if (worst < 0 || depth < least) least = depth, worst = i;
    }
    return worst;
}

/// Takes from `direction_` what is left of it along the active normals, and adds that to `along_`.
void NearestPoint::orthogonalise() {
    const auto q = q_.leftCols(k_);
    auto again = inside_.head(k_);
    again.noalias() = q.transpose() * direction_;
    direction_.noalias() -= q * again;
    along_.head(k_) += again;
}

/// Splits a normal into its part along the active ones and the rest, by Gram-Schmidt done twice: normal
/// equations would square the condition number.
void NearestPoint::resolve(Index constraint) {
    direction_ = normals_.col(constraint);
    if (k_ == 0) return;
    along_.head(k_).setZero();
    orthogonalise();
    orthogonalise();
}

/// share_ = r_^-1 along_: the coefficients of the normal's projection onto the active normals.
void NearestPoint::solve_shares() {
    for (Index i = 0; i < k_; ++i) share_[static_cast<std::size_t>(i)] = along_[i];
    for (Index j = k_ - 1; j >= 0; --j) {
        const double value = share_[static_cast<std::size_t>(j)] /= r_(j, j);
        for (Index i = 0; i < j; ++i) share_[static_cast<std::size_t>(i)] -= value * r_(i, j);
    }
}

bool NearestPoint::take_up(Index constraint) {
    const double least = dependent * norms_[constraint];
    double multiplier = 0;
    bool dropped = false;
    resolve(constraint);
    while (true) {
        ++iterations_;
        solve_shares();
        const double curvature = direction_.squaredNorm();
        const bool free = k_ < p_ && curvature > least * least;
        const double slack = normals_.col(constraint).dot(z_) - offsets_[constraint];
        const double full = free ? std::max(0.0, -slack / curvature) : infinity;
        double partial = infinity;
        Index blocking = 0;
        for (Index j = 0; j < k_; ++j) {
            const double rate = share_[static_cast<std::size_t>(j)];
            const double reach = multipliers_[static_cast<std::size_t>(j)];
            if (rate > 0 && reach < partial * rate) partial = reach / rate, blocking = j;
        }
        const double step = std::min(full, partial);
        if (!std::isfinite(step)) {
            for (Index j = 0; j < k_; ++j) share_[static_cast<std::size_t>(j)] *= -1;
            return false;
        }
        if (free) z_ += step * direction_;
        for (std::size_t j = 0; j < size(); ++j)
            multipliers_[j] = std::max(0.0, multipliers_[j] - step * share_[j]);
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
    multipliers_[size()] = multiplier;
    state_[static_cast<std::size_t>(constraint)] = State::active;
    ++k_;
}

/// Takes a column out of the factors: rotations of neighbouring rows restore the triangle.
void NearestPoint::drop(Index position) {
    state_[static_cast<std::size_t>(active_[static_cast<std::size_t>(position)])] = State::inactive;
    const auto from = static_cast<std::ptrdiff_t>(position), end = static_cast<std::ptrdiff_t>(k_);
    std::move(active_.begin() + from + 1, active_.begin() + end, active_.begin() + from);
    std::move(multipliers_.begin() + from + 1, multipliers_.begin() + end, multipliers_.begin() + from);
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
    direction_ += along_[k_] * q_.col(k_);
}

/// The least-norm point with the given products with the active normals; inside_ keeps its coordinates.
void NearestPoint::least_norm(const double* products, Vector& out) {
    for (Index j = 0; j < k_; ++j) {
        double sum = products[j];
        for (Index i = 0; i < j; ++i) sum -= r_(i, j) * inside_[i];
        inside_[j] = sum / r_(j, j);
    }
    out.setZero();
    if (k_ > 0) out.noalias() = q_.leftCols(k_) * inside_.head(k_);
}

/// Point and multipliers of the active face from its factors: drops what rounding the steps piled up.
void NearestPoint::polish() {
    for (Index j = 0; j < k_; ++j) active_offsets_[j] = offsets_[active_[static_cast<std::size_t>(j)]];
    least_norm(active_offsets_.data(), z_);
    along_.head(k_) = inside_.head(k_);
    solve_shares();
    for (std::size_t j = 0; j < size(); ++j) multipliers_[j] = std::max(0.0, share_[j]);
}

const Vector& NearestPoint::shift(std::span<const double> change) {
    least_norm(change.data(), step_);
    z_ += step_;
    return step_;
}

}  // namespace alidade::detail
