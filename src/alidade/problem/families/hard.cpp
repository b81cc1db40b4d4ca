#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "hard.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// theta_h for signs of mu_h that are drawn.
Matrix drawn_truth(const FamilyArguments& arguments, const HardLine& line) {
    Matrix weights(line.horizon, line.features);
    for (Step h = 0; h < line.horizon; ++h) {
        Stream random = instance_stream(arguments, Draw::signs, h);
        Index corner = 0;
        for (Index i = 0; i + 1 < line.features; ++i) corner |= sample_index(random, 2) << i;
        weights.row(h) = line.weights(corner).transpose();
    }
    return weights;
}

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
    // |theta| is 1 + (d-1) Delta exactly; rounding must not put the truth outside.
    const double norm = (1 + line.gap * static_cast<double>(line.features - 1)) * (1 + 1e-9);
    parts.features = std::make_shared<const FeatureMap>(line.map(norm));
    parts.horizon = horizon;
    parts.truth = drawn_truth(arguments, line);
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
