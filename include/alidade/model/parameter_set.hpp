#pragma once

#include "alidade/model/feature_map.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The weights that are possible before any data.
enum class ParameterSetKind {
    simplex,  ///< convex weights of base models
    ball,     ///< |theta| <= B in the affine hull of general features
};

/// The convex set Theta in which every theta_h lies, with its tangent space.
class ParameterSet {
public:
    static ParameterSet simplex(Index features);
    /// Weights of general features: the affine hull cut with the ball of radius `norm_bound`.
    static ParameterSet ball(TangentSpace space, double norm_bound);
    /// The set that belongs to a feature map.
    static ParameterSet of(const FeatureMap& features);

    ParameterSetKind kind() const noexcept { return kind_; }
    Index features() const noexcept { return space_.centre.size(); }
    const TangentSpace& space() const noexcept { return space_; }
    /// Largest distance of a member from the centre: sqrt(1-1/d) for the simplex,
    /// sqrt(B^2 - |theta_0|^2) for the ball.
    double radius() const noexcept { return radius_; }

    /// max over theta in Theta of theta . direction, exactly.
    double support(const Vector& direction) const;
    /// Whether `weights` lie in the set up to `tolerance`.
    bool contains(const Vector& weights, double tolerance = 1e-9) const;

private:
    ParameterSet(ParameterSetKind kind, TangentSpace space, double radius)
        : kind_(kind), space_(std::move(space)), radius_(radius) {}

    ParameterSetKind kind_;
    TangentSpace space_;
    double radius_;
};

}  // namespace alidade
