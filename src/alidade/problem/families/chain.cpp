#include "alidade/problem/reward_catalogue.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// Chance of moving right. Base model i >= 1 differs from base model 0 on states with
/// s mod (d-1) = i-1; actions from 2 on lie halfway between action 1 and a fair coin.
double right_chance(Index base, State s, Action a, Index features) {
    const bool differs = base >= 1 && s % (features - 1) == base - 1;
    double q = a == 0 ? .05 : .7;
    if (differs && a == 0) q = .3;
    if (differs && a != 0) q = base % 2 == 1 ? .2 : .95;
    return a >= 2 ? 0.5 * q + 0.25 : q;
}

Problem make_chain(const FamilyArguments& arguments) {
    const Index states = arguments.integer("states");
    const Index actions = arguments.integer("actions");
    const Index features = arguments.integer("features");
    KernelSet kernels(states, actions, numbered_bases(features), 3);
    for (State s = 0; s < states; ++s) {
        for (Action a = 0; a < actions; ++a) {
            for (Index base = 0; base < features; ++base) {
                const double q = right_chance(base, s, a, features);
                add_walk(kernels, base, s, states, q, 0.4 * (1 - q), 0.6 * (1 - q));
            }
            kernels.end_pair();
        }
    }
    ProblemDescription parts;
    parts.name = "chain";
    parts.features = kernels.features();
    parts.horizon = arguments.integer("horizon");
    parts.truth = draw_weights(arguments, parts.horizon, features);
    parts.rewards.push_back({"right-end", "1 in the last state, 0 elsewhere.",
                             single_state_reward({states, actions, parts.horizon}, states - 1)});
    return Problem(std::move(parts));
}

}  // namespace

Family chain_family() {
    return {
        "chain",
        "A walk on a line whose base models differ on interleaved states: each is informative somewhere "
        "else.",
        {
            integer_parameter("states", 6, 2, max_states, "Number of states."),
            integer_parameter("actions", 2, 1, max_actions, "Number of actions; those from 2 on are alike."),
            integer_parameter("features", 5, 2, max_features, "Number of base models."),
            horizon_parameter(8),
            seed_parameter(),
        },
        make_chain};
}

}  // namespace alidade::detail
