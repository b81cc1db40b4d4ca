#pragma once

#include <vector>

#include "../estimate/maximum_likelihood.hpp"
#include "alidade/estimate/point_estimate.hpp"
#include "alidade/types.hpp"

// The mixture whose law is about the hypothesis that is tested [docs/algorithms/likelihood.md, Lemma 3c].
namespace alidade::detail {

/// A: the form A_1 + ridge I on the tangent space, fixed before the data.
struct HypothesisMetric {
    Matrix form;         ///< A, p x p, positive definite
    Matrix base;         ///< A_1, positive semidefinite
    double ridge = 0;    ///< A = A_1 + ridge I
    double log_det = 0;  ///< of A

    /// ridge = 1e-3 tr A_1/p; the identity where A_1 is empty or zero.
    static HypothesisMetric of(const Matrix& base, Index dimension);
};

/// The uniform mixture from below, by a Gaussian inside the simplex about `centre`.
struct InnerGaussian {
    double regret = 0;  ///< r_U: L(weights) less the logarithm of the uniform mixture, at most
    double spread = 0;  ///< tr(A Sigma), at most
};

/// With the barrier's share k of the precision. `centre` is interior; at least one row.
InnerGaussian inner_gaussian(const LikelihoodRows& rows, const Vector& weights, const Vector& centre,
                             const HypothesisMetric& metric, double share);

/// At least the largest |theta - centre|_A^2 over the members of the simplex that are within `squared_radius`
/// of the estimate in its own metric.
double squared_reach(const PointEstimate& estimate, double squared_radius, const Vector& centre,
                     const HypothesisMetric& metric);

}  // namespace alidade::detail
