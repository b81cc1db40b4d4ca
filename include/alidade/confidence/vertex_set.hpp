#pragma once

#include <optional>
#include <span>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// Half-spaces normal . theta >= offset of convex weights, one a row. They hold together with the simplex.
struct HalfSpaces {
    Matrix normals;  ///< half-spaces x d
    Vector offsets;  ///< one each

    Index size() const noexcept { return offsets.size(); }
    Index features() const noexcept { return normals.cols(); }
};

/// At least the largest direction . theta over the weights of the simplex in all half-spaces, by weak
/// duality: max_i (f + sum_k mu_k a_k)_i - sum_k mu_k b_k for multipliers mu >= 0 that a simplex method found.
/// Valid whatever they are, so the method is not trusted; minus infinity proves that there are no such
/// weights [misspecification, Theorem 3].
double upper_by_duality(const HalfSpaces& spaces, std::span<const double> direction);

/// The hull of a few convex weights, which contains all weights of the simplex in some half-spaces. A
/// function that is convex in the weights is largest at one of them, so that maxima over the set are exact:
/// of expectations, total variations and divergences from a law [misspecification, Theorem 3]. A value:
/// immutable.
class VertexSet {
public:
    /// The vertices of the simplex of d weights, cut by the half-spaces. Where the next cut would leave more
    /// than `most` of them it is left out, so that the set is larger than it could be, never smaller. None if
    /// there are no such weights: that is proven.
    static std::optional<VertexSet> of(const HalfSpaces& spaces, Index most = 4096);

    Index features() const noexcept { return vertices_.rows(); }
    Index size() const noexcept { return vertices_.cols(); }
    /// d x size: one vertex a column.
    const Matrix& vertices() const noexcept { return vertices_; }
    /// The half-spaces that cut something off.
    const HalfSpaces& spaces() const noexcept { return spaces_; }
    /// The mean of the vertices: a member.
    const Vector& centre() const noexcept { return centre_; }
    /// No member is farther from the hull of the vertices as computed, as the sum of sizes of differences.
    double slack() const noexcept { return slack_; }

    /// Contains direction . theta of all members.
    Interval range(std::span<const double> direction) const;
    /// Its upper end alone.
    double upper(std::span<const double> direction) const;
    /// How far from the centre towards the boundary: at most one inside, and one on it.
    double depth(const Vector& weights) const;

    /// weights . row for every vertex, for rows of d numbers: what laws of all vertices are made of.
    void products(const double* row, double* results) const;

private:
    VertexSet(Matrix vertices, HalfSpaces spaces, double slack);

    Matrix vertices_;
    std::vector<double> by_coordinate_;  // the same, coordinate by coordinate
    HalfSpaces spaces_;
    Vector centre_;
    double slack_;
};

}  // namespace alidade
