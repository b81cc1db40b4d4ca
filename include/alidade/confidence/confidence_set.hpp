#pragma once

#include <memory>

#include "alidade/confidence/projection.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The weights of one step that the data leave possible: those of the parameter set within `radius` of
/// the estimate in the norm of the precision. A value: immutable, cheap to copy.
class ConfidenceSet {
public:
    /// `radius` is about the estimate; the set is projected onto the parameters and the radius about the
    /// projection refined [theory §3a]. Throws ModelContradiction if the set misses the parameters:
    /// then the confidence event has failed.
    ConfidenceSet(const ParameterSet& parameters, const RidgeEstimate& estimate, double radius);

    Index features() const noexcept { return parts_->projection.weights.size(); }
    Index dimension() const noexcept { return parts_->estimate.coordinates.size(); }
    /// theta~: the member that is handed over as the model.
    const Vector& weights() const noexcept { return parts_->projection.weights; }
    const Projection& projection() const noexcept { return parts_->projection; }
    const RidgeEstimate& estimate() const noexcept { return parts_->estimate; }
    /// theta hat, which need not be in the parameter set.
    const Vector& estimated_weights() const noexcept { return parts_->estimated_weights; }
    /// Radius about the estimate.
    double radius() const noexcept { return parts_->radius; }
    /// Radius about `weights()`: sqrt(radius^2 - residual^2 + 2 gap).
    double refined_radius() const noexcept { return parts_->refined_radius; }
    const ParameterSet& parameters() const noexcept { return parts_->parameters; }

    /// Whether the set contains the weights (up to 1e-9 in the parameters).
    bool contains(const Vector& weights) const;
    /// Distance of the weights from the estimate, in radii: at most one inside.
    double depth(const Vector& weights) const;
    /// |x| in the dual metric, for x in tangent coordinates.
    double dual_norm(const Vector& x) const;
    /// An upper bound of max over members of weights . direction: the least of both balls' closed forms
    /// and the parameter set's own maximum. Never below the true maximum.
    double support(const Vector& direction) const;
    /// Minus the support of the opposite direction: a lower bound of the minimum.
    double least(const Vector& direction) const { return -support(-direction); }

private:
    struct Parts {
        ParameterSet parameters;
        RidgeEstimate estimate;
        Projection projection;
        Vector estimated_weights;
        double radius;
        double refined_radius;
    };
    std::shared_ptr<const Parts> parts_;
};

}  // namespace alidade
