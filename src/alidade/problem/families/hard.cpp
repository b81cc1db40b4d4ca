#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

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

    SharedFeatures map() const {
        const Index states = horizon + 2;
        // |theta| is 1 + (d-1) Delta exactly; rounding must not put the truth outside.
        const double norm = (1 + gap * static_cast<double>(features - 1)) * (1 + 1e-9);
        SignedFeatures data{states, actions(), features, {0}, {}, {}, norm};
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
        return std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
    }

    /// theta_h for signs of mu_h that are drawn.
    Matrix truth(const FamilyArguments& arguments) const {
        Matrix weights(horizon, features);
        for (Step h = 0; h < horizon; ++h) {
            Stream random = instance_stream(arguments, Draw::signs, h);
            weights(h, 0) = 1 / alpha;
            for (Index i = 0; i + 1 < features; ++i)
                weights(h, i + 1) = (sample_index(random, 2) == 0 ? -1.0 : 1.0) * gap / gamma;
        }
        return weights;
    }
};

Problem make_hard(const FamilyArguments& arguments) {
    const Index horizon = arguments.integer("horizon");
    const Index episodes = arguments.given("episodes") ? arguments.integer("episodes") : 16 * horizon;
    const HardLine line(arguments.integer("features"), horizon, static_cast<double>(episodes));
    expects(static_cast<double>(line.features - 1) * line.gap <= line.rho,
            "builtin:hard: with features={}, horizon={} and episodes={} the exit would have a negative "
            "probability; "
            "episodes must be at least {}",
            line.features, horizon, episodes,
            static_cast<Index>(std::ceil(std::pow(static_cast<double>(line.features - 1), 2) *
                                         static_cast<double>(horizon) / 32)));
    ProblemDescription parts;
    parts.name = "hard";
    parts.features = line.map();
    parts.horizon = horizon;
    parts.truth = line.truth(arguments);
    const Shape shape{horizon + 2, line.actions(), horizon};
    std::vector<double> values(at(shape.pairs()), 0.0);
    for (Action a = 0; a < shape.actions; ++a) values[at(shape.pair(horizon + 1, a))] = 1;
    parts.rewards.push_back(
        {"exit", "1 at every step after the exit was taken.", Reward(shape, std::move(values))});
    return Problem(std::move(parts));
}

}  // namespace

Family hard_family() {
    return {
        "hard",
        "The lower-bound instance: signed features, rare exits whose chance hardly depends on the action.",
        {
            integer_parameter("features", 5, 2, 10, "Number of features d; there are 2^(d-1) actions."),
            horizon_parameter(10),
            derived_parameter("episodes", "16 * horizon", 1, 1'000'000'000'000,
                              "How many episodes shall hardly tell the actions apart; a run may have more."),
            seed_parameter(),
        },
        make_hard};
}

}  // namespace alidade::detail
