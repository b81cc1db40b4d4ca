#pragma once

#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::detail {

/// |whitening (x - centre)|^2 <= 1, or <= 1 + s where the program has a slack s.
struct QuadraticConstraint {
    const Matrix* whitening;  ///< p x p, upper triangular
    const Matrix* gram;       ///< whitening' whitening
    const Vector* centre;
};

/// Interior-point steps (Mehrotra's predictor and corrector; where that jams, the barrier method) for:
/// maximise objective . x subject to offset + rows x >= 0 and quadratic constraints. With a slack, one more
/// variable s loosens all quadratic constraints at once and the objective is -s; a linear constraint is
/// loosened by s times its element of a column that `rows` may have beyond those of x. Iterates are strictly
/// feasible; multipliers are positive, their stationarity is reached in the limit.
class InteriorPoint {
public:
    /// The arguments must outlive this. `rows` may have no rows; `quadratics` has at least one element.
    InteriorPoint(const Matrix& rows, const Vector& offset, std::span<const QuadraticConstraint> quadratics,
                  bool slack);

    /// Starts at a strictly feasible x (for a slack: within the linear constraints that it does not loosen).
    /// `objective` is ignored with a slack.
    void start(const Vector& objective, const Vector& x);
    /// One step; false if rounding leaves no progress to be made.
    bool step();

    const Vector& x() const noexcept { return x_; }
    double slack() const noexcept { return slack_; }
    /// Sum of multiplier times constraint: the gap once multipliers are stationary.
    double complementarity() const;
    /// Multiplier of a linear constraint.
    double multiplier(Index line) const { return multipliers_[line]; }
    /// Multiplier of a quadratic constraint (of half its excess) times whitening (x - centre).
    Vector part(std::size_t j) const { return multipliers_[lines() + at(j)] * whitened_[j]; }

private:
    struct Direction {
        Vector x;            // p numbers, and the slack's
        Vector values;       // change of each constraint, to first order
        Vector multipliers;  // change of each multiplier
        Vector curvature;    // |whitening dx|^2 / 2 of each quadratic constraint
    };

    static Index at(std::size_t j) { return static_cast<Index>(j); }
    Index lines() const { return rows_.rows(); }
    Index constraints() const { return lines() + at(quadratics_.size()); }
    bool measure();
    bool centre();
    bool advance(double length, bool with_multipliers);
    bool factorise();
    void solve(Vector& right) const;
    void move(const Vector& target, const Vector& twist, Direction& out) const;
    double exit(const Direction& along, Index i) const;
    double longest(const Direction& along) const;
    double best_length(const Direction& along, double damped) const;
    double after(const Direction& along, double length) const;
    Vector correction(const Direction& affine, Vector& twist) const;

    const Matrix& rows_;
    const Vector& offset_;
    std::vector<QuadraticConstraint> quadratics_;
    bool has_slack_;
    Index p_, n_;
    Vector objective_, x_;
    double slack_ = 0;
    double barrier_ = 0;             // products wanted by the barrier method; 0: predictor and corrector
    double most_barrier_ = 0;        // a slack's path has no end farther back: it could be chased for ever
    bool on_path_ = false;           // whether the barrier method has reached the central path
    Vector values_, multipliers_;    // linear constraints first, then quadratic
    std::vector<Vector> whitened_;   // whitening (x - centre)
    std::vector<Vector> gradients_;  // of minus the quadratic constraint
    Matrix hessian_;                 // lower triangle; its Cholesky factor after factorise()
    Direction affine_, combined_;
};

}  // namespace alidade::detail
