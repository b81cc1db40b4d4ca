#include "alidade/confidence/confidence_set.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/error.hpp"
#include "alidade/theory/regression.hpp"

namespace alidade {

ConfidenceSet::ConfidenceSet(const ParameterSet& parameters, const RidgeEstimate& estimate, double radius) {
    expects(std::isfinite(radius) && radius >= 0, "radius is {}; must be a finite number of at least 0",
            radius);
    Projection projection = project(parameters, estimate.coordinates, estimate.precision, estimate.factor);
    const double refined = projected_radius(radius, projection.residual, projection.gap);
    if (std::isnan(refined))
        throw ModelContradiction(fmt::format(
            "the estimate is {:.4g} from every possible mixture, farther than the radius {:.4g}: the data "
            "contradict the base models, or the confidence event (probability 1 - delta) failed",
            projection.residual, radius));
    Vector estimated = parameters.space().weights(estimate.coordinates);
    parts_ = std::make_shared<const Parts>(
        Parts{parameters, estimate, std::move(projection), std::move(estimated), radius, refined});
}

double ConfidenceSet::depth(const Vector& weights) const {
    expects(weights.size() == features(), "{} weights; must be {}", weights.size(), features());
    const Vector offset = parts_->parameters.space().coordinates(weights) - parts_->estimate.coordinates;
    const double distance = (parts_->estimate.factor.transpose() * offset).norm();
    return parts_->radius > 0 ? distance / parts_->radius
                              : (distance > 0 ? std::numeric_limits<double>::infinity() : 0.0);
}

bool ConfidenceSet::contains(const Vector& weights) const {
    return parts_->parameters.contains(weights) && depth(weights) <= 1;
}

double ConfidenceSet::dual_norm(const Vector& x) const {
    return parts_->estimate.factor.triangularView<Eigen::Lower>().solve(x).norm();
}

double ConfidenceSet::support(const Vector& direction) const {
    const double norm = dual_norm(parts_->parameters.space().basis.transpose() * direction);
    // Both balls hold at once, and so does the parameter set [theory §3a, §3g].
    return std::min({parts_->estimated_weights.dot(direction) + parts_->radius * norm,
                     parts_->projection.weights.dot(direction) + parts_->refined_radius * norm,
                     parts_->parameters.support(direction)});
}

}  // namespace alidade
