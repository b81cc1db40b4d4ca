#include "alidade/model/parameter_set.hpp"

#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

ParameterSet ParameterSet::simplex(Index features) {
    return {ParameterSetKind::simplex, TangentSpace::simplex(features),
            std::sqrt(1 - 1 / static_cast<double>(features))};
}

ParameterSet ParameterSet::ball(TangentSpace space, double norm_bound) {
    const double excess = norm_bound * norm_bound - space.centre.squaredNorm();
    expects(excess >= 0,
            "norm bound {} is smaller than {:.6g}, the least norm of weights that make rows sum to one",
            norm_bound, space.centre.norm());
    return {ParameterSetKind::ball, std::move(space), std::sqrt(excess)};
}

ParameterSet ParameterSet::of(const FeatureMap& features) {
    if (features.kind() == FeatureKind::base_models) return simplex(features.features());
    return ball(TangentSpace::of(features), features.norm_bound());
}

double ParameterSet::support(const Vector& direction) const {
    if (kind_ == ParameterSetKind::simplex) return direction.maxCoeff();
    return space_.centre.dot(direction) + radius_ * (space_.basis.transpose() * direction).norm();
}

bool ParameterSet::contains(const Vector& weights, double tolerance) const {
    if (weights.size() != features() || !weights.allFinite()) return false;
    if (kind_ == ParameterSetKind::simplex)
        return weights.minCoeff() >= -tolerance && std::abs(weights.sum() - 1) <= tolerance;
    const Vector offset = weights - space_.centre;
    const Vector inside = space_.basis.transpose() * offset;
    return (offset - space_.basis * inside).norm() <= tolerance && inside.norm() <= radius_ + tolerance;
}

}  // namespace alidade
