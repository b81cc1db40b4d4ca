#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The weights that are possible before any data.
enum class ParameterSetKind {
    simplex,   ///< convex weights of base models
    ball,      ///< |theta| <= B in the affine hull of general features
    polytope,  ///< the members of the ball that make every probability non-negative
};

/// What makes weights of general features a transition law beyond the affine hull: for every entry,
/// psi . zeta + centre >= 0, the probability of that successor.
struct ProbabilityRows {
    TangentSpace space;
    std::vector<double> psi;     ///< p numbers for each entry, contiguous
    std::vector<double> centre;  ///< theta_0 . phi, one number for each entry
    Index actions = 0;
    std::vector<std::int64_t> offsets;  ///< S*A+1 positions into `targets`, as in the feature map
    std::vector<std::int32_t> targets;  ///< next state of every entry
    double largest = 0;                 ///< largest norm of a psi

    explicit ProbabilityRows(const FeatureMap& features);

    Index entries() const noexcept { return static_cast<Index>(targets.size()); }
    /// psi of one entry.
    Eigen::Map<const Vector> normal(Index entry) const noexcept;
    /// "state 3, action 1, successor 5" of one entry.
    std::string place(Index entry) const;
    /// The probability of every entry at centre + basis * zeta; negative where zeta is not well defined.
    void probabilities(const Vector& zeta, Vector& out) const;
};

/// The convex set Theta in which every theta_h lies, with its tangent space.
class ParameterSet {
public:
    static ParameterSet simplex(Index features);
    /// Weights of general features: the affine hull cut with the ball of radius `norm_bound`.
    static ParameterSet ball(TangentSpace space, double norm_bound);
    /// Weights of general features that are well defined: the ball cut with {theta . phi(s,a,s') >= 0}
    /// [theory §1.1]. It may be empty, which a projection finds out.
    static ParameterSet polytope(const FeatureMap& features);
    /// The set that belongs to a feature map: the simplex of base models, the polytope of general features.
    static ParameterSet of(const FeatureMap& features);

    ParameterSetKind kind() const noexcept { return kind_; }
    Index features() const noexcept { return space_.centre.size(); }
    const TangentSpace& space() const noexcept { return space_; }
    /// Largest distance of a member from the centre: sqrt(1-1/d) for the simplex,
    /// sqrt(B^2 - |theta_0|^2) for the ball; at most that for the polytope.
    double radius() const noexcept { return radius_; }

    /// The inequalities of the polytope; null for the other kinds.
    const ProbabilityRows* rows() const noexcept { return rows_.get(); }

    /// max over theta in Theta of theta . direction, exactly; for the polytope, that of the ball: from above.
    double support(const Vector& direction) const;
    /// Whether `weights` lie in the set up to `tolerance`.
    bool contains(const Vector& weights, double tolerance = 1e-9) const;

private:
    ParameterSet(ParameterSetKind kind, TangentSpace space, double radius)
        : kind_(kind), space_(std::move(space)), radius_(radius) {}

    ParameterSetKind kind_;
    TangentSpace space_;
    double radius_;
    std::shared_ptr<const ProbabilityRows> rows_;
};

}  // namespace alidade
