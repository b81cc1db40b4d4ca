#pragma once

#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::detail {

/// How a search for the nearest point ended.
enum class NearestStatus {
    solved,           ///< the point is feasible and optimal up to rounding
    infeasible,       ///< `offender()` contradicts the active constraints: see `certificate()`
    iteration_limit,  ///< rounding made the method cycle; the point is the last one
};

/// Nearest point to the origin of {z : normals' z >= offsets}, by Goldfarb and Idnani's dual method
/// (Math. Programming 27, 1983): start at the unconstrained optimum, take up the most violated constraint,
/// drop those whose multiplier reaches zero on the way. Constraints may be added after a solution; the next
/// search then starts from it. Memory is allocated when constraints are added, never by a search, and in few
/// blocks: at d = 5 the allocator would otherwise take longer than the search.
class NearestPoint {
public:
    using View = Eigen::Map<const Vector>;

    explicit NearestPoint(Index dimension);
    NearestPoint(const NearestPoint&) = delete;
    NearestPoint& operator=(const NearestPoint&) = delete;

    Index constraints() const noexcept { return count_; }
    /// Makes room for this many constraints in all.
    void reserve(Index constraints);
    /// Adds normal . z >= offset and returns its position.
    template <class Derived>
    Index add(const Eigen::MatrixBase<Derived>& normal, double offset) {
        append_record(offset).head(p_) = normal;
        return close_record();
    }
    /// Leaves a constraint that is not active out of all later searches: the offender, if its contradiction
    /// is only rounding.
    void ignore(Index constraint);

    NearestStatus solve();

    View point() const noexcept { return {z_.data(), p_}; }
    /// Positions of the constraints that bind.
    std::span<const Index> active_set() const noexcept { return {active_.data(), size()}; }
    /// Numbers mu >= 0, one for each active constraint: point = sum of mu times normal.
    std::span<const double> multipliers() const noexcept { return {multipliers_.data(), size()}; }
    /// Additions and removals of active constraints since construction.
    Index iterations() const noexcept { return iterations_; }
    /// If infeasible: the constraint that could not be taken up.
    Index offender() const noexcept { return offender_; }
    /// If infeasible: weights y >= 0 of the active constraints such that normal of the offender + sum of
    /// y times normal is zero up to rounding while the same sum of the offsets is positive.
    std::span<const double> certificate() const noexcept { return {share_.data(), size()}; }
    /// Moves the point, by the least-norm step, so that the active slacks change by `change` (one number for
    /// each). Returns the step.
    View shift(std::span<const double> change);

private:
    using Block = Eigen::Map<Vector>;
    enum class State : unsigned char { inactive, active, ignored };

    std::size_t size() const noexcept { return static_cast<std::size_t>(k_); }
    Index most_violated();
    bool take_up(Index constraint);
    void resolve(Index constraint);
    void orthogonalise();
    void solve_shares();
    void append(Index constraint, double multiplier);
    void drop(Index position);
    void least_norm(const double* offsets, Block& out);
    void polish();

    Block append_record(double offset);
    Index close_record();
    // A constraint is p + 2 numbers in a row: its normal, its offset, the norm of the normal.
    View normal(Index constraint) const noexcept { return {records_.data() + constraint * (p_ + 2), p_}; }
    double offset(Index constraint) const noexcept { return normal(constraint).data()[p_]; }
    double norm(Index constraint) const noexcept { return normal(constraint).data()[p_ + 1]; }

    Index p_, count_ = 0, k_ = 0, iterations_ = 0, offender_ = -1;
    double offset_scale_ = 1;
    std::vector<double> records_;
    std::vector<State> state_;
    std::vector<Index> active_;
    std::vector<double> work_;  // what the maps below show
    Eigen::Map<Matrix> q_, r_;  // active normals = q_ r_ in the first k_ columns: orthonormal, triangular
    Block z_, multipliers_, share_;
    Block along_;      // q_' normal of the constraint being taken up
    Block direction_;  // what is left of that normal
    Block inside_, step_, active_offsets_;
};

}  // namespace alidade::detail
