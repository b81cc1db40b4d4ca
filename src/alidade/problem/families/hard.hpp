#pragma once

#include <cmath>

#include "alidade/model/feature_map.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The lower-bound instance of Zhou, Gu and Szepesvari (2021, Theorem 5.6): H+2 states in a line, actions in
/// {-1,1}^(d-1), and an exit that is taken with probability 1/H + mu . a.
struct HardLine {
    Index features, horizon;
    double rho;    ///< 1/H: exits happen once an episode, whatever is done
    double gap;    ///< Delta = |mu_i|: what `episodes` episodes hardly tell apart
    double alpha;  ///< scale that makes |phi_V| <= 1
    double gamma;  ///< and of the signs

    HardLine(Index d, Index steps, double episodes)
        : features(d),
          horizon(steps),
          rho(1 / static_cast<double>(steps)),
          gap(std::sqrt(rho / episodes) / (4 * std::sqrt(2.0))),
          alpha(1 / std::sqrt(1 + gap * static_cast<double>(d - 1))),
          gamma(std::sqrt(gap) * alpha) {}

    Index actions() const { return Index{1} << (features - 1); }
    static double sign(Index action, Index i) { return (action >> i) & 1 ? 1.0 : -1.0; }

    FeatureMap map(double norm_bound) const {
        const Index states = horizon + 2;
        SignedFeatures data{states, actions(), features, {0}, {}, {}, norm_bound};
        for (State s = 0; s < states; ++s)
            for (Action a = 0; a < actions(); ++a) {
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

    /// theta of one step, for mu = Delta * (signs of `corner`).
    Vector weights(Index corner) const {
        Vector theta(features);
        theta[0] = 1 / alpha;
        for (Index i = 0; i + 1 < features; ++i) theta[i + 1] = sign(corner, i) * gap / gamma;
        return theta;
    }
};

}  // namespace alidade::detail
