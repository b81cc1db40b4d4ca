#include <array>

#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// Action 0 swims left surely. Action 1 moves right with p, stays with 0.8(1-p), is carried left with
/// 0.2(1-p); p = 0.6 on the first two thirds and is drawn per (state, base model) after that.
SharedFeatures random_river(const FamilyArguments& arguments, Index length, Index features) {
    KernelSet kernels(length, 2, numbered_bases(features), 3);
    for (State s = 0; s < length; ++s) {
        for (Index base = 0; base < features; ++base) add_walk(kernels, base, s, length, 0, 0, 1);
        kernels.end_pair();
        Stream random = instance_stream(arguments, Draw::current, s);
        for (Index base = 0; base < features; ++base) {
            const double p = 3 * s < 2 * length ? 0.6 : 0.1 + 0.8 * sample_uniform(random);
            add_walk(kernels, base, s, length, p, 0.8 * (1 - p), 0.2 * (1 - p));
        }
        kernels.end_pair();
    }
    return kernels.features();
}

/// Three currents that differ on the right half only.
SharedFeatures halved_river(Index length) {
    struct Move {
        double right, stay, left;
    };
    constexpr std::array<Move, 3> currents{{{.70, .25, .05}, {.40, .50, .10}, {.20, .30, .50}}};
    KernelSet kernels(length, 2, {"slack", "moderate", "strong"}, 3);
    for (State s = 0; s < length; ++s) {
        for (Index base = 0; base < 3; ++base) add_walk(kernels, base, s, length, .05, .15, .80);
        kernels.end_pair();
        for (Index base = 0; base < 3; ++base) {
            const Move& move = currents[2 * s < length ? 0 : static_cast<std::size_t>(base)];
            add_walk(kernels, base, s, length, move.right, move.stay, move.left);
        }
        kernels.end_pair();
    }
    return kernels.features();
}

/// The reward of the river's literature: little at the near end, much at the far one.
Reward classic_reward(const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.pairs()), 0.0);
    values[static_cast<std::size_t>(shape.pair(0, 0))] = 0.005;
    values[static_cast<std::size_t>(shape.pair(shape.states - 1, 1))] = 1;
    return Reward(shape, std::move(values));
}

/// How far up the river, whatever is done there.
Reward upstream_reward(const Shape& shape) {
    std::vector<double> values;
    for (State s = 0; s < shape.states; ++s)
        values.insert(values.end(), static_cast<std::size_t>(shape.actions),
                      static_cast<double>(s) / static_cast<double>(shape.states - 1));
    return Reward(shape, std::move(values));
}

Problem make_riverswim(const FamilyArguments& arguments) {
    const bool halves = arguments.text("variant") == "halves";
    const Index length = arguments.integer("length");
    const Index features = halves ? 3 : arguments.integer("features");
    ProblemDescription parts;
    parts.name = halves ? "riverswim-halves" : "riverswim";
    parts.features = halves ? halved_river(length) : random_river(arguments, length, features);
    parts.horizon = arguments.integer("horizon");
    parts.truth = draw_weights(arguments, parts.horizon, features);
    parts.action_names = {"left", "right"};
    parts.rewards.push_back(
        {"classic", "0.005 for swimming left at the left end, 1 for swimming right at the right end.",
         classic_reward({length, 2, parts.horizon})});
    parts.rewards.push_back({"upstream", "The share of the river that lies behind: s / (length - 1).",
                             upstream_reward({length, 2, parts.horizon})});
    return Problem(std::move(parts));
}

}  // namespace

Family riverswim_family() {
    const std::string length_meaning = "Places along the river.";
    return {"riverswim",
            "Swimming against a current: the base models differ far from the start only.",
            {
                variant_parameter({"random", "halves"},
                                  "random: currents drawn on the last third; halves: three given currents "
                                  "on the right half."),
                only({"random"}, integer_parameter("length", 12, 2, max_states, length_meaning)),
                only({"halves"}, integer_parameter("length", 10, 2, max_states, length_meaning)),
                only({"random"}, integer_parameter("features", 4, 1, max_features, "Number of base models.")),
                only({"random"}, horizon_parameter(20)),
                only({"halves"}, horizon_parameter(12)),
                seed_parameter(),
            },
            make_riverswim};
}

}  // namespace alidade::detail
