#include "hard.hpp"

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "parameters.hpp"

namespace alidade::detail {

void check_exits(const char* family, const HardLine& line, Index horizon, Index episodes) {
    const double signs = static_cast<double>(line.features - 1);
    expects(line.reach() <= line.rho,
            "builtin:{}: with features={}, horizon={} and episodes={} the exit would have a negative "
            "probability; episodes must be at least {}",
            family, line.features, horizon, episodes,
            static_cast<Index>(std::ceil(signs * signs / (32 * line.rho))));
    expects(line.rho + line.reach() <= 1,
            "builtin:{}: with horizon={} the exit would have a probability above one; horizon must be at "
            "least 2",
            family, horizon);
}

HardRequest requested_line(const char* family, const FamilyArguments& arguments) {
    const Index horizon = arguments.integer("horizon");
    const Index episodes = arguments.integer_or("episodes", 16 * horizon);
    const HardLine line(arguments.integer("features"), horizon, static_cast<double>(episodes));
    check_exits(family, line, horizon, episodes);
    return {line, horizon};
}

Index drawn_corner(const FamilyArguments& arguments, const HardLine& line, Step h) {
    Stream random = instance_stream(arguments, Draw::signs, h);
    Index corner = 0;
    for (Index i = 0; i + 1 < line.features; ++i) corner |= sample_index(random, 2) << i;
    return corner;
}

Reward exit_reward(const HardLine& line, Index horizon, double amount) {
    const Shape shape{line.states(), line.actions(), horizon};
    std::vector<double> values(at(shape.pairs()), 0.0);
    for (Action a = 0; a < shape.actions; ++a) values[at(shape.pair(line.exit(), a))] = amount;
    return Reward(shape, std::move(values));
}

std::vector<FamilyParameter> line_parameters(std::string features_meaning) {
    return {
        integer_parameter("features", 5, 2, 10, std::move(features_meaning)),
        horizon_parameter(10),
        derived_parameter("episodes", "16 * horizon", 1, 1'000'000'000'000,
                          "How many episodes shall hardly tell the actions apart; a run may have more."),
        seed_parameter(),
    };
}

namespace {

Problem make_hard(const FamilyArguments& arguments) {
    const auto [line, horizon] = requested_line("hard", arguments);
    ProblemDescription parts;
    parts.name = "hard";
    parts.features = std::make_shared<const FeatureMap>(line.map(line.norm_bound()));
    parts.horizon = horizon;
    parts.truth = Matrix(horizon, line.features);
    for (Step h = 0; h < horizon; ++h)
        parts.truth->row(h) = line.weights(drawn_corner(arguments, line, h)).transpose();
    parts.rewards.push_back(
        {"exit", "1 at every step after the exit was taken.", exit_reward(line, horizon, 1)});
    return Problem(std::move(parts));
}

}  // namespace

Family hard_family() {
    return {
        "hard",
        "The lower-bound instance: signed features, rare exits whose chance hardly depends on the action.",
        line_parameters("Number of features d; there are 2^(d-1) actions."), make_hard};
}

}  // namespace alidade::detail
