#pragma once

#include <span>
#include <vector>

#include "alidade/model/parameter_set.hpp"
#include "alidade/types.hpp"

namespace alidade {

namespace detail {
struct QuadraticConstraint;
}

/// {zeta : |zeta - centre| <= radius} in the norm of a precision, in tangent coordinates.
struct Ellipsoid {
    Vector centre;      ///< p numbers; may lie outside the parameter set
    Matrix factor;      ///< lower Cholesky factor of the precision, p x p, positive diagonal
    double radius = 0;  ///< >= 0
};

/// How a support bracket came about.
enum class SupportStatus {
    exact,      ///< closed form: a vertex or the top of one ellipsoid is a member of everything
    converged,  ///< the ends are as close as asked for
    limit,      ///< iterations or digits ran out: the ends are valid, but apart
    empty,      ///< the sets have no common point, proven by a dual point; lower = upper = -infinity
};

/// lower <= max of direction . theta <= upper.
struct SupportBracket {
    double lower = 0;  ///< value of `witness`; -infinity if no member was found
    double upper = 0;  ///< value of a dual point: above the maximum whatever the solver did [theory §3g]
    Vector witness;    ///< the member that attains `lower`, d weights; no elements if none was found
    SupportStatus status = SupportStatus::limit;
    Index iterations = 0;  ///< interior-point steps taken for this direction
};

struct SupportOptions {
    double tolerance = 1e-9;  ///< wanted upper - lower, relative to the direction's range over the parameters
    Index iterations = 100;   ///< at most so many interior-point steps for a direction
    Index anchor_iterations = 200;  ///< at most so many to find a first member
};

/// The support function of Theta cut with ellipsoids. What the directions share (a member, whitened
/// metrics) is computed once. Of general features' polytope only the ball enters the upper end. A value;
/// evaluation is thread-safe and deterministic.
class SupportFunction {
public:
    /// At least one ellipsoid, of the parameters' tangent dimension.
    SupportFunction(ParameterSet parameters, std::span<const Ellipsoid> ellipsoids,
                    SupportOptions options = {});

    /// Whether the sets are proven to have no common point.
    bool empty() const noexcept { return empty_; }
    /// The maximum over all members of theta . direction (d numbers).
    SupportBracket bracket(std::span<const double> direction) const;
    /// The same for many directions, d numbers each, one after the other.
    std::vector<SupportBracket> brackets(std::span<const double> directions) const;

private:
    struct Ball {
        Vector centre;
        Matrix factor;
        Matrix whitening;  // factor' / radius: the ball is |whitening (zeta - centre)| <= 1
        Matrix gram;       // whitening' whitening
        double norm;       // Frobenius norm of the whitening
        double radius;
    };
    struct Goal;

    std::vector<detail::QuadraticConstraint> quadratics() const;
    bool settled_by_a_point();
    void find_anchor();
    bool member(const Vector& coordinates, Vector& weights) const;
    Goal goal_of(std::span<const double> direction) const;
    double dual_value(const Goal& goal, std::span<const Vector> parts) const;
    bool offer(const Goal& goal, const Vector& coordinates, SupportBracket& result) const;
    bool closed_forms(const Goal& goal, SupportBracket& result) const;
    void climb(const Goal& goal, SupportBracket& result) const;

    ParameterSet parameters_;
    SupportOptions options_;
    std::vector<Ball> balls_;  // for general features the parameters' own ball is the last
    Matrix no_rows_;
    Vector anchor_;  // coordinates of a member, well inside if `interior_`; no elements if none was found
    bool interior_ = false;
    bool empty_ = false;
};

}  // namespace alidade
