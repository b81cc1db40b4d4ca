#include "alidade/model/tangent_space.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "spectrum.hpp"

namespace alidade {

TangentSpace TangentSpace::simplex(Index features) {
    expects(features >= 1, "features is {}; must be at least 1", features);
    TangentSpace space;
    space.centre = Vector::Constant(features, 1.0 / static_cast<double>(features));
    // Helmert's basis of {v : sum v = 0}: orthonormal in closed form, the same bytes everywhere.
    space.basis = Matrix::Zero(features, features - 1);
    for (Index k = 1; k < features; ++k) {
        const double scale = 1 / std::sqrt(static_cast<double>(k * (k + 1)));
        for (Index i = 0; i < k; ++i) space.basis(i, k - 1) = scale;
        space.basis(k, k - 1) = -static_cast<double>(k) * scale;
    }
    return space;
}

TangentSpace TangentSpace::of(const FeatureMap& features) {
    if (features.kind() == FeatureKind::base_models) return simplex(features.features());
    const Index d = features.features();
    // One equation theta . phi_1(s,a) = 1 a pair; its normal equations are d x d whatever S*A is.
    Matrix normal = Matrix::Zero(d, d);
    Vector right = Vector::Zero(d);
    const std::vector<double> ones(static_cast<std::size_t>(features.states()), 1.0);
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const Vector total = features.phi_value(pair, ones);
        normal += total * total.transpose();
        right += total;
    }
    const detail::Spectrum spectrum = detail::spectrum_of(normal);
    const Vector& values = spectrum.values;
    const double cutoff = 1e-12 * std::max(1e-300, values[d - 1]);
    Index null = 0;
    while (null < d && values[null] <= cutoff) ++null;
    TangentSpace space;
    space.centre = Vector::Zero(d);
    for (Index i = null; i < d; ++i) {
        const Vector direction = spectrum.vectors.col(i);
        space.centre += direction * (direction.dot(right) / values[i]);
    }
    space.basis = spectrum.vectors.leftCols(null);
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const double sum = features.phi_value(pair, ones).dot(space.centre);
        expects(
            std::abs(sum - 1) <= 1e-6,
            "features of state {}, action {} contradict those of the other pairs: no weights make all rows "
            "sum to one (this row sums to {:.6g} at the least-squares point)",
            pair / features.actions(), pair % features.actions(), sum);
    }
    return space;
}

TangentFeatures::TangentFeatures(const FeatureMap& features, TangentSpace space_given)
    : space(std::move(space_given)) {
    const Index d = features.features(), p = space.dimension();
    expects(space.centre.size() == d, "tangent space has {} weights; must have {} (the features)",
            space.centre.size(), d);
    psi.resize(static_cast<std::size_t>(features.entries() * p));
    centre.resize(static_cast<std::size_t>(features.entries()));
    for (Index e = 0; e < features.entries(); ++e) {
        const Eigen::Map<const Vector> phi(features.phi(e).data(), d);
        Eigen::Map<Vector> out(psi.data() + e * p, p);
        // Base models that agree carry no information; say so exactly, not up to rounding.
        const bool agree =
            centred() && features.kind() == FeatureKind::base_models && (phi.array() == phi[0]).all();
        if (agree)
            out.setZero();
        else
            out = space.basis.transpose() * phi;
        centre[static_cast<std::size_t>(e)] = space.centre.dot(phi);
    }
}

}  // namespace alidade
