#include "alidade/model/tangent_space.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "spectrum.hpp"
#include "tangent_coordinates.hpp"

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
    : space(std::move(space_given)), features_(&features) {
    expects(space.centre.size() == features.features(),
            "tangent space has {} weights; must have {} (the features)", space.centre.size(),
            features.features());
    helmert_ = features.kind() == FeatureKind::base_models && centred() &&
               space.basis == TangentSpace::simplex(features.features()).basis;
}

detail::Coordinates TangentFeatures::coordinates() const noexcept {
    return {
        space.centre.size(), space.dimension(), space.basis.data(),
        space.centre.data(), helmert_,          centred() && features_->kind() == FeatureKind::base_models};
}

void TangentFeatures::psi(Index entry, double* out) const noexcept {
    const double* const phi = features_->phi(entry).data();
    detail::tangent_coordinates<double>(
        coordinates(), [&](Index i) { return phi[i]; }, [&](Index k, double x) { out[k] = x; });
}

Vector TangentFeatures::psi(Index entry) const {
    Vector result(space.dimension());
    psi(entry, result.data());
    return result;
}

void TangentFeatures::psi_of_pair(Index pair, double* out) const noexcept {
    const Index p = space.dimension();
    for (Index e = features_->first_entry(pair); e < features_->first_entry(pair + 1); ++e, out += p)
        psi(e, out);
}

double TangentFeatures::centre(Index entry) const noexcept {
    const double* const phi = features_->phi(entry).data();
    return detail::paired_sum<double>(space.centre.size(), [&](Index i) { return space.centre[i] * phi[i]; });
}

std::vector<double> TangentFeatures::all_psi() const {
    std::vector<double> all(at(features_->entries() * space.dimension()));
    for (Index e = 0; e < features_->entries(); ++e) psi(e, all.data() + e * space.dimension());
    return all;
}

std::vector<double> TangentFeatures::all_centres() const {
    std::vector<double> all(at(features_->entries()));
    for (Index e = 0; e < features_->entries(); ++e) all[at(e)] = centre(e);
    return all;
}

}  // namespace alidade
