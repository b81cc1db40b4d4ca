#pragma once

#include <cmath>

#include "alidade/model/feature_map.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The lower-bound instance of Zhou, Gu and Szepesvari (2021, Theorem 5.6): `length` states in a line,
/// actions in {-1,1}^(d-1), and an exit that is taken with probability rho + mu . a. Behind the line come its
/// end and then the exit, both of which are never left.
struct HardLine {
    Index features, length;
    double rho;    ///< chance of the exit, whatever is done, but for mu
    double gap;    ///< Delta = |mu_i|: what `episodes` episodes hardly tell apart
    double alpha;  ///< scale that makes |phi_V| <= 1
    double gamma;  ///< and of the signs

    /// A state for each step and rho = 1/H: exits happen once an episode.
    HardLine(Index d, Index horizon, double episodes)
        : HardLine(d, horizon, 1 / static_cast<double>(horizon), episodes) {}

    /// The sibling of Zhou and Gu (2022) for weights that are the same at all steps: one state, rho = 1/6.
    static HardLine of_one_state(Index d, double episodes) { return {d, 1, 1 / 6.0, episodes}; }

    Index states() const { return length + 2; }
    State exit() const { return length + 1; }
    Index actions() const { return Index{1} << (features - 1); }
    static double sign(Index action, Index i) { return (action >> i) & 1 ? 1.0 : -1.0; }
    /// (d-1) Delta: how far the chance of the exit can be moved.
    double reach() const { return gap * static_cast<double>(features - 1); }
    /// 1 + (d-1) Delta, the norm of every theta; rounding must not put the truth outside.
    double norm_bound() const { return (1 + reach()) * (1 + 1e-9); }

    FeatureMap map(double norm_bound) const {
        SignedFeatures data{states(), actions(), features, {0}, {}, {}, norm_bound};
        for (State s = 0; s < states(); ++s)
            for (Action a = 0; a < actions(); ++a) {
                const auto entry = [&](State target, double first, double scale) {
                    data.targets.push_back(target);
                    data.values.push_back(first);
                    for (Index i = 0; i + 1 < features; ++i) data.values.push_back(scale * sign(a, i));
                };
                if (s < length) {
                    entry(s + 1, alpha * (1 - rho), -gamma);
                    entry(exit(), alpha * rho, gamma);
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

private:
    HardLine(Index d, Index states_in_line, double exit_chance, double episodes)
        : features(d),
          length(states_in_line),
          rho(exit_chance),
          gap(std::sqrt(rho / episodes) / (4 * std::sqrt(2.0))),
          alpha(1 / std::sqrt(1 + gap * static_cast<double>(d - 1))),
          gamma(std::sqrt(gap) * alpha) {}
};

/// What a family on such a line was asked for.
struct HardRequest {
    HardLine line;
    Index horizon;
};

/// The line with a state for each step that is asked for by `features`, `horizon` and `episodes`. Throws
/// InvalidArgument, naming the family, if its exits would not be probabilities.
HardRequest requested_line(const char* family, const FamilyArguments& arguments);

/// Throws InvalidArgument unless every rho + mu . a is a probability.
void check_exits(const char* family, const HardLine& line, Index horizon, Index episodes);

/// The signs of mu_h, as a corner in [0, 2^(d-1)): for one seed the same in all families.
Index drawn_corner(const FamilyArguments& arguments, const HardLine& line, Step h);

/// `amount` at every step after the exit was taken, for `horizon` steps.
Reward exit_reward(const HardLine& line, Index horizon, double amount);

/// `features`, `horizon`, `episodes` and `seed`, as requested_line reads them.
std::vector<FamilyParameter> line_parameters(std::string features_meaning);

}  // namespace alidade::detail
