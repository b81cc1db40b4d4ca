#include "alidade/model/parameter_set.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

ProbabilityRows::ProbabilityRows(const FeatureMap& features)
    : space(TangentSpace::of(features)),
      psi(TangentFeatures(features, space).all_psi()),
      centre(TangentFeatures(features, space).all_centres()),
      actions(features.actions()),
      targets(features.targets().begin(), features.targets().end()) {
    offsets.reserve(static_cast<std::size_t>(features.pairs()) + 1);
    for (Index pair = 0; pair <= features.pairs(); ++pair) offsets.push_back(features.first_entry(pair));
    for (Index entry = 0; entry < entries(); ++entry) largest = std::max(largest, normal(entry).norm());
}

Eigen::Map<const Vector> ProbabilityRows::normal(Index entry) const noexcept {
    const Index p = space.dimension();
    return {psi.data() + entry * p, p};
}

std::string ProbabilityRows::place(Index entry) const {
    const auto after = std::ranges::upper_bound(offsets, entry);
    const Index pair = static_cast<Index>(after - offsets.begin()) - 1;
    return fmt::format("state {}, action {}, successor {}", pair / actions, pair % actions,
                       targets[static_cast<std::size_t>(entry)]);
}

void ProbabilityRows::probabilities(const Vector& zeta, Vector& out) const {
    const Index p = space.dimension();
    out = Eigen::Map<const Vector>(centre.data(), entries());
    if (p > 0) out.noalias() += Eigen::Map<const Matrix>(psi.data(), p, entries()).transpose() * zeta;
}

ParameterSet ParameterSet::simplex(Index features) {
    return {ParameterSetKind::simplex, TangentSpace::simplex(features),
            std::sqrt(1 - 1 / static_cast<double>(features))};
}

ParameterSet ParameterSet::ball(TangentSpace space, double norm_bound) {
    const double square = norm_bound * norm_bound, excess = square - space.centre.squaredNorm();
    // The bound may be the least norm itself, known up to rounding, which the root magnifies; what cancels in
    // the difference must not make the ball smaller.
    constexpr double rounding = 1e-14;
    expects(excess >= -rounding * square,
            "norm bound {} is smaller than {:.6g}, the least norm of weights that make rows sum to one",
            norm_bound, space.centre.norm());
    return {ParameterSetKind::ball, std::move(space), std::sqrt(std::max(excess, 0.0) + rounding * square)};
}

ParameterSet ParameterSet::polytope(const FeatureMap& features) {
    auto rows = std::make_shared<const ProbabilityRows>(features);
    ParameterSet set = ball(rows->space, features.norm_bound());
    set.kind_ = ParameterSetKind::polytope;
    set.rows_ = std::move(rows);
    return set;
}

ParameterSet ParameterSet::of(const FeatureMap& features) {
    if (features.kind() == FeatureKind::base_models) return simplex(features.features());
    return polytope(features);
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
    if ((offset - space_.basis * inside).norm() > tolerance || inside.norm() > radius_ + tolerance)
        return false;
    if (!rows_) return true;
    Vector probabilities;
    rows_->probabilities(inside, probabilities);
    return probabilities.minCoeff() >= -tolerance;
}

}  // namespace alidade
