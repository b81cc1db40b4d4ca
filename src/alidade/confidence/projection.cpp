#include "alidade/confidence/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "alidade/error.hpp"

namespace alidade {

namespace {

/// Nearest point to the origin of {z : normals' z >= offsets}, by Goldfarb and Idnani's dual method
/// (Math. Programming 27, 1983): start at the unconstrained optimum, take up the most violated
/// constraint, drop those whose multiplier reaches zero on the way.
class NearestPoint {
public:
    NearestPoint(const Matrix& normals, const Vector& offsets)
        : normals_(normals), offsets_(offsets), z_(Vector::Zero(normals.rows())) {}

    void solve() {
        // Each addition raises the distance strictly, so no active set returns; the cap is for rounding.
        for (Index round = 0; round < 50 * (offsets_.size() + 1); ++round) {
            const Vector slack = normals_.transpose() * z_ - offsets_;
            Index worst = -1;
            double least = -tolerance();
            for (Index i = 0; i < slack.size(); ++i)
                if (slack[i] < least && !is_active(i)) least = slack[i], worst = i;
            if (worst < 0 || !take_up(worst)) break;
        }
        polish();
    }

    const Vector& point() const { return z_; }
    const std::vector<Index>& active_set() const { return active_; }
    Index active() const { return static_cast<Index>(active_.size()); }

private:
    double tolerance() const { return 1e-14 * (1 + offsets_.cwiseAbs().maxCoeff()); }
    bool is_active(Index i) const { return std::ranges::find(active_, i) != active_.end(); }

    /// Orthonormal columns Q and upper triangular R with Q R = the active normals, by Gram-Schmidt done
    /// twice: normal equations would square the condition number.
    struct Factored {
        Matrix q, r;
    };

    Factored active_normals() const {
        const Index k = active();
        Factored result{Matrix(normals_.rows(), k), Matrix::Zero(k, k)};
        for (Index j = 0; j < k; ++j) {
            Vector column = normals_.col(active_[static_cast<std::size_t>(j)]);
            for (int pass = 0; pass < 2; ++pass)
                for (Index i = 0; i < j; ++i) {
                    const double along = result.q.col(i).dot(column);
                    result.r(i, j) += along;
                    column -= along * result.q.col(i);
                }
            result.r(j, j) = column.norm();
            result.q.col(j) = column / result.r(j, j);
        }
        return result;
    }

    /// Coefficients of the new normal's projection onto the active ones.
    Vector along_active(const Vector& normal) const {
        const Index k = active();
        Vector share(k);
        if (k == 0) return share;
        const Factored normals = active_normals();
        for (Index i = k - 1; i >= 0; --i) {
            double sum = normals.q.col(i).dot(normal);
            for (Index j = i + 1; j < k; ++j) sum -= normals.r(i, j) * share[j];
            share[i] = sum / normals.r(i, i);
        }
        return share;
    }

    /// The least-norm point of the active face from scratch: drops what rounding the steps piled up.
    void polish() {
        if (active_.empty()) return;
        const Factored normals = active_normals();
        Vector inside(active());
        z_.setZero();
        for (Index j = 0; j < active(); ++j) {
            double sum = offsets_[active_[static_cast<std::size_t>(j)]];
            for (Index i = 0; i < j; ++i) sum -= normals.r(i, j) * inside[i];
            inside[j] = sum / normals.r(j, j);
            z_ += inside[j] * normals.q.col(j);
        }
    }

    bool take_up(Index constraint) {
        const Vector normal = normals_.col(constraint);
        double multiplier = 0;
        while (true) {
            const Vector share = along_active(normal);
            Vector direction = normal;
            for (std::size_t j = 0; j < active_.size(); ++j)
                direction -= share[static_cast<Index>(j)] * normals_.col(active_[j]);
            const double curvature = direction.dot(normal);
            const double slack = normal.dot(z_) - offsets_[constraint];
            const double infinity = std::numeric_limits<double>::infinity();
            const double full = curvature > 1e-14 * normal.squaredNorm() ? -slack / curvature : infinity;
            double partial = infinity;
            std::size_t blocking = 0;
            for (std::size_t j = 0; j < active_.size(); ++j) {
                const double rate = share[static_cast<Index>(j)];
                if (rate > 0 && multipliers_[j] / rate < partial)
                    partial = multipliers_[j] / rate, blocking = j;
            }
            const double step = std::min(full, partial);
            if (!std::isfinite(step)) return false;  // no feasible point; cannot happen on the simplex
            if (std::isfinite(full)) z_ += step * direction;
            for (std::size_t j = 0; j < active_.size(); ++j)
                multipliers_[j] -= step * share[static_cast<Index>(j)];
            multiplier += step;
            if (step == full) {
                active_.push_back(constraint);
                multipliers_.push_back(multiplier);
                return true;
            }
            active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(blocking));
            multipliers_.erase(multipliers_.begin() + static_cast<std::ptrdiff_t>(blocking));
        }
    }

    const Matrix& normals_;
    const Vector& offsets_;
    Vector z_;
    std::vector<Index> active_;
    std::vector<double> multipliers_;
};

/// Makes the point feasible exactly: rounding may leave -1e-17.
Vector onto_simplex(Vector weights) {
    weights = weights.cwiseMax(0.0);
    return weights / weights.sum();
}

}  // namespace

Projection project(const ParameterSet& parameters, const Vector& coordinates, const Matrix& factor) {
    expects(parameters.kind() == ParameterSetKind::simplex,
            "projection onto the weights of general features is not available; use base models");
    const TangentSpace& space = parameters.space();
    expects(coordinates.size() == space.dimension(), "estimate has {} coordinates; must have {}",
            coordinates.size(), space.dimension());
    Projection result;
    const Vector estimate = space.weights(coordinates);
    if (space.dimension() == 0 || estimate.minCoeff() >= 0) {
        result.weights = onto_simplex(estimate);
        result.coordinates = space.coordinates(result.weights);
    } else {
        // With z = factor' (zeta - estimate) the metric is Euclidean and theta_i >= 0 has normal
        // factor^-1 (row i of the basis) and offset -estimate_i.
        const Matrix normals = factor.triangularView<Eigen::Lower>().solve(space.basis.transpose());
        const Vector offsets = -estimate;
        NearestPoint nearest(normals, offsets);
        nearest.solve();
        result.active = nearest.active();
        const Vector shift = factor.transpose().triangularView<Eigen::Upper>().solve(nearest.point());
        Vector weights = space.weights(coordinates + shift);
        for (const Index i : nearest.active_set()) weights[i] = 0;
        result.weights = onto_simplex(std::move(weights));
        result.coordinates = space.coordinates(result.weights);
    }
    const Vector offset = coordinates - result.coordinates;
    // By the factor: with the precision itself, rounding would be that of its largest entries.
    const Vector whitened = factor.transpose().triangularView<Eigen::Upper>() * offset;
    const Vector gradient = space.basis * (factor.triangularView<Eigen::Lower>() * whitened);
    result.residual = whitened.norm();
    // max over vertices e_i of <Lambda (estimate - point), e_i - point>
    result.gap = std::max(0.0, gradient.maxCoeff() - gradient.dot(result.weights));
    result.kkt_residual = result.gap / (1 + gradient.cwiseAbs().maxCoeff());
    return result;
}

}  // namespace alidade
