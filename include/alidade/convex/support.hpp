#pragma once

#include <span>
#include <vector>

#include "alidade/model/parameter_set.hpp"
#include "alidade/types.hpp"

namespace alidade {

namespace detail {
class InteriorPoint;
struct SupportGoal;
struct SupportProgram;
}  // namespace detail

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
    /// Wanted upper - lower, relative to the direction's range over the parameters (general features: over
    /// their ball, or the direction's norm if that is smaller).
    double tolerance = 1e-9;
    Index iterations = 100;         ///< at most so many interior-point steps for a direction
    Index anchor_iterations = 200;  ///< at most so many to find a first member
};

/// The support function of Theta cut with ellipsoids. What the directions share (a member, the inequalities
/// of a polytope that bind about it) is computed once. A value; evaluation is thread-safe and deterministic.
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
        double radius;     // 0, or between 1 and 2: the factor is scaled along
        double size;       // Frobenius norm of the factor
        Matrix whitening;  // factor' / radius: the ball is |whitening (zeta - centre)| <= 1
        Matrix gram;       // whitening' whitening
        Vector offset;     // factor' (centre - origin)
    };
    using Goal = detail::SupportGoal;
    using Program = detail::SupportProgram;

    Program program(std::span<const Index> cuts, bool slack) const;
    void move_origin(const Vector& origin);
    bool settled_by_a_point();
    void find_anchor();
    bool descend(Index& steps, Vector& x);
    double leeway(Index entry) const;
    double half_width(const Vector& normal) const;
    Vector clipped(const Vector& x) const;
    bool add_cuts(const Vector& x, double margin, std::vector<Index>& cuts) const;
    bool member(const Vector& coordinates, Vector& weights) const;
    Goal goal_of(std::span<const double> direction) const;
    double dual_value(const Goal& goal, std::span<const Vector> parts, std::span<const Index> cuts,
                      const Vector& multipliers) const;
    bool offer(const Goal& goal, const Vector& coordinates, SupportBracket& result) const;
    bool closed_forms(const Goal& goal, SupportBracket& result) const;
    void climb(const Goal& goal, SupportBracket& result) const;
    void complete(const Goal& goal, const detail::InteriorPoint& solver, const Program& constraints,
                  std::vector<Vector>& parts) const;
    bool climb_within(const Goal& goal, std::vector<Index>& cuts, SupportBracket& result) const;

    ParameterSet parameters_;
    SupportOptions options_;
    std::vector<Ball> balls_;  // for general features the parameters' own ball is the last
    double extent_ = 0;        // no weights are longer, nor any two members farther apart
    Vector origin_;            // searches count coordinates from here, so that thin sets keep their digits
    Vector row_values_;        // of a polytope's inequalities at the origin
    std::vector<Index> cuts_;  // those of them that searches start with
    Vector anchor_;            // of a member less the origin; no elements if none was found
    Vector member_;            // coordinates of a member; no elements if none was found
    double leeway_ = 0;        // by which searches may break a polytope's inequalities, relatively
    bool interior_ = false;    // whether the anchor is well inside
    bool empty_ = false;
};

}  // namespace alidade
