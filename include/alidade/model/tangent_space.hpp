#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

namespace detail {
struct Coordinates;
}

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
/// same with the identity for a basis are the features in R^d, where they do not.) They are computed where
/// they are asked for: kept they would take as much memory as the features [docs/large-models.md]. Reads the
/// features, which must outlive it.
class TangentFeatures {
public:
    TangentSpace space;

    TangentFeatures(const FeatureMap& features, TangentSpace space);

    /// Whether the coordinates are those of a hull, so that the psi of a pair sum to zero; not so in R^d.
    bool centred() const noexcept { return space.dimension() < space.centre.size(); }
    /// What they are computed with.
    detail::Coordinates coordinates() const noexcept;

    /// psi of one entry: p numbers.
    void psi(Index entry, double* out) const noexcept;
    Vector psi(Index entry) const;
    /// psi of all successors of a pair, one after another.
    void psi_of_pair(Index pair, double* out) const noexcept;
    /// theta_0 . phi of one entry.
    double centre(Index entry) const noexcept;
    /// psi of every entry, one after another: for those who need them all, often.
    std::vector<double> all_psi() const;
    /// theta_0 . phi of every entry.
    std::vector<double> all_centres() const;

private:
    const FeatureMap* features_;
    bool helmert_ = false;  // the basis is that of TangentSpace::simplex
};

}  // namespace alidade
