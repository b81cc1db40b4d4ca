#pragma once

#include <cmath>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "support/random_models.hpp"

namespace alidade::support {

/// Features (q, xi) of d numbers: q is a law over the successors and each xi sums to zero over them, so that
/// theta = (1, x) gives q + x . xi, which is a transition law near x = 0 and none far from it.
inline FeatureMap random_signed_features(Stream& random, const Shape& shape, Index d, Index successors,
                                         double norm_bound) {
    SignedFeatures data{shape.states, shape.actions, d, {0}, {}, {}, norm_bound};
    for (Index pair = 0; pair < shape.pairs(); ++pair) {
        const auto targets = random_states(random, shape.states, successors);
        const auto law = sample_dirichlet(random, successors, 2.0);
        Matrix signs(successors, d - 1);
        for (Index j = 0; j < successors; ++j)
            for (Index i = 0; i + 1 < d; ++i) signs(j, i) = sample_normal(random);
        signs.rowwise() -= signs.colwise().mean().eval();
        for (Index j = 0; j < successors; ++j) {
            data.targets.push_back(targets[static_cast<std::size_t>(j)]);
            data.values.push_back(law[static_cast<std::size_t>(j)]);
            for (Index i = 0; i + 1 < d; ++i) data.values.push_back(signs(j, i));
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return FeatureMap::from_features(data);
}

/// The hard instance of Zhou, Gu and Szepesvari (2021, Theorem 5.6): H+2 states in a line, 2^(d-1) actions
/// in {-1,1}^(d-1), and an exit whose probability is rho + <mu, a>, |mu_i| = step.
struct HardInstance {
    Index features;       ///< d
    Index horizon;        ///< H
    double rho;           ///< 1/H
    double step;          ///< Delta
    double alpha, gamma;  ///< scales that make |phi_V| <= 1

    HardInstance(Index d, Index steps, double episodes)
        : features(d),
          horizon(steps),
          rho(1 / static_cast<double>(steps)),
          step(std::sqrt(rho / episodes) / (4 * std::sqrt(2.0))),
          alpha(1 / std::sqrt(1 + step * static_cast<double>(d - 1))),
          gamma(std::sqrt(step) * alpha) {}

    static double sign(Index action, Index i) { return (action >> i) & 1 ? 1.0 : -1.0; }

    FeatureMap map(double norm_bound) const {
        const Index states = horizon + 2, actions = Index{1} << (features - 1);
        SignedFeatures data{states, actions, features, {0}, {}, {}, norm_bound};
        for (State s = 0; s < states; ++s)
            for (Action a = 0; a < actions; ++a) {
                const auto entry = [&](State target, double first, double scale) {
                    data.targets.push_back(target);
                    data.values.push_back(first);
                    for (Index i = 0; i + 1 < features; ++i) data.values.push_back(scale * sign(a, i));
                };
                if (s < horizon) {
                    entry(s + 1, alpha * (1 - rho), -gamma);
                    entry(horizon + 1, alpha * rho, gamma);
                } else {
                    entry(s, alpha, 0);
                }
                data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
            }
        return FeatureMap::from_features(data);
    }

    /// theta of one step, for mu = step * (signs of `corner`).
    Vector truth(Index corner) const {
        Vector theta(features);
        theta[0] = 1 / alpha;
        for (Index i = 0; i + 1 < features; ++i) theta[i + 1] = step * sign(corner, i) / gamma;
        return theta;
    }
};

}  // namespace alidade::support
