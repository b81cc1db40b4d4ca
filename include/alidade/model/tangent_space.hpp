#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// What the weights can move in, given that every row sums to one: theta = centre + basis * zeta
/// [theory §3k]. For base models the centre is 1/d and the basis spans {v : sum v = 0}.
struct TangentSpace {
    Vector centre;  ///< theta_0, d numbers: the least-norm point of the affine hull
    Matrix basis;   ///< N, d x p with orthonormal columns

    Index dimension() const noexcept { return basis.cols(); }  ///< p
    Vector weights(const Vector& zeta) const { return centre + basis * zeta; }
    Vector coordinates(const Vector& weights) const { return basis.transpose() * (weights - centre); }

    /// The hull of the simplex of d convex weights: p = d-1.
    static TangentSpace simplex(Index features);
    /// {theta : theta . phi_1(s,a) = 1 for all pairs}. Throws InvalidArgument naming a pair whose
    /// equation contradicts the others.
    static TangentSpace of(const FeatureMap& features);
};

/// The features in tangent coordinates: psi(s,a,s') = N' phi(s,a,s'), and what the centre predicts.
/// Over the successors of a pair the psi sum to zero, so norms of psi_V do not change with V -> V + c. (The
/// same with the identity for a basis are the features in R^d, where they do not.)
struct TangentFeatures {
    TangentSpace space;
    std::vector<double> psi;     ///< p numbers for each entry, contiguous
    std::vector<double> centre;  ///< theta_0 . phi, one number for each entry

    TangentFeatures(const FeatureMap& features, TangentSpace space);

    /// Whether the coordinates are those of a hull, so that the psi of a pair sum to zero; not so in R^d.
    bool centred() const noexcept { return space.dimension() < space.centre.size(); }
};

}  // namespace alidade
