#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

Action draw_key(const FamilyArguments& arguments, State position, Index actions) {
    Stream random = instance_stream(arguments, Draw::key, position);
    return sample_index(random, actions);
}

void name_positions(ProblemDescription& parts, Index length) {
    for (Index i = 0; i < length; ++i) parts.state_names.push_back(fmt::format("position {}", i));
}

void name_ends(ProblemDescription& parts, Index count) {
    for (Index i = 1; i <= count; ++i) parts.state_names.push_back(fmt::format("end {}", i));
}

/// Every action of the state keeps it where it is, in every base model.
void add_absorbing(KernelSet& kernels, State s, Index actions) {
    for (Action a = 0; a < actions; ++a) {
        kernels.add_to_all(s, 1);
        kernels.end_pair();
    }
}

/// 1 in the states from `first` to `last`, whatever is done there.
Reward paying(const ProblemDescription& parts, State first, State last) {
    const Shape shape{parts.features->states(), parts.features->actions(), parts.horizon};
    std::vector<double> values(static_cast<std::size_t>(shape.pairs()), 0.0);
    std::fill(values.begin() + shape.pair(first, 0), values.begin() + shape.pair(last, 0) + shape.actions,
              1.0);
    return Reward(shape, std::move(values));
}

/// States: positions, the dead state, the end states.
ProblemDescription make_end(const FamilyArguments& arguments, Index length, Index actions) {
    const Index features = arguments.integer("features");
    const Index outcomes = arguments.integer("outcomes");
    const State dead = length, first_end = length + 1, states = length + 1 + outcomes;
    KernelSet kernels(states, actions, numbered_bases(features), std::max<Index>(outcomes, 1));
    for (State s = 0; s < length - 1; ++s) {
        const Action key = draw_key(arguments, s, actions);
        for (Action a = 0; a < actions; ++a) {
            kernels.add_to_all(a == key ? s + 1 : dead, 1);
            kernels.end_pair();
        }
    }
    for (Action a = 0; a < actions; ++a) {
        Stream random = instance_stream(arguments, Draw::rows, (length - 1) * actions + a);
        for (Index base = 0; base < features; ++base) {
            const std::vector<double> row = sample_dirichlet(random, outcomes, 0.3);
            for (Index j = 0; j < outcomes; ++j)
                kernels.add(base, first_end + j, row[static_cast<std::size_t>(j)]);
        }
        kernels.end_pair();
    }
    for (State s = dead; s < states; ++s) add_absorbing(kernels, s, actions);

    ProblemDescription parts;
    parts.name = "lock";
    parts.features = kernels.features();
    parts.horizon = length + 1;
    name_positions(parts, length);
    parts.state_names.push_back("dead");
    name_ends(parts, outcomes);
    parts.rewards = {{"open", "1 in the state end 1, 0 elsewhere.", paying(parts, first_end, first_end)},
                     {"opened", "1 in every end state, 0 elsewhere.", paying(parts, first_end, states - 1)}};
    return parts;
}

/// States: positions, three end states, the sink.
ProblemDescription make_deep(const FamilyArguments& arguments, Index length, Index actions) {
    const Index features = 3;
    const State first_end = length, sink = length + 3, states = length + 4;
    KernelSet kernels(states, actions, numbered_bases(features), 4);
    for (State s = 0; s < length - 2; ++s) {
        const Action key = draw_key(arguments, s, actions);
        for (Action a = 0; a < actions; ++a) {
            kernels.add_to_all(a == key ? s + 1 : 0, a == key ? .95 : .5);
            kernels.add_to_all(sink, a == key ? .05 : .5);
            kernels.end_pair();
        }
    }
    // The position before the last leads on to the last one, which leads on to end 1: both are s + 1.
    for (State s = length - 2; s < length; ++s) {
        const State targets[4] = {s + 1, first_end + 1, first_end + 2, sink};
        for (Action a = 0; a < actions; ++a) {
            Stream random = instance_stream(arguments, Draw::rows, s * actions + a);
            for (Index base = 0; base < features; ++base) {
                const std::vector<double> row = sample_dirichlet(random, 4, 0.7);
                for (std::size_t j = 0; j < 4; ++j) kernels.add(base, targets[j], 0.9 * row[j] + 0.025);
            }
            kernels.end_pair();
        }
    }
    for (State s = first_end; s < states; ++s) add_absorbing(kernels, s, actions);

    ProblemDescription parts;
    parts.name = "lock-deep";
    parts.features = kernels.features();
    parts.horizon = arguments.integer("horizon");
    name_positions(parts, length);
    name_ends(parts, 3);
    parts.state_names.push_back("sink");
    parts.rewards = {{"open", "1 in the state end 1, 0 elsewhere.", paying(parts, first_end, first_end)},
                     {"opened", "1 in every end state, 0 elsewhere.", paying(parts, first_end, sink - 1)},
                     {"alive", "0 in the sink, 1 elsewhere.", paying(parts, 0, sink - 1)}};
    return parts;
}

/// All states are positions; action 0 is the key everywhere, a wrong action starts over.
ProblemDescription make_reset(const FamilyArguments& arguments, Index length, Index actions) {
    const Index features = arguments.integer("features");
    expects(
        features <= length,
        "builtin:lock: parameter 'features' is {}; in the variant 'reset' it must be at most the length, {}",
        features, length);
    KernelSet kernels(length, actions, numbered_bases(features), length + 1);
    for (State s = 0; s < length; ++s) {
        for (Action a = 0; a < actions; ++a) {
            if (s < length - 2) {
                kernels.add_to_all(a == 0 ? s + 1 : 0, a == 0 ? .9 : .95);
                kernels.add_to_all(s, a == 0 ? .1 : .05);
            } else {
                for (State next = 0; next < length; ++next)
                    kernels.add_to_all(next, 0.3 / static_cast<double>(length));
                for (Index base = 0; base < features; ++base)
                    kernels.add(base, (base + a * (s - length + 3)) % length, 0.7);
            }
            kernels.end_pair();
        }
    }
    ProblemDescription parts;
    parts.name = "lock-reset";
    parts.features = kernels.features();
    parts.horizon = arguments.integer("horizon");
    name_positions(parts, length);
    parts.rewards = {{"open", "1 at the last position, 0 elsewhere.", paying(parts, length - 1, length - 1)}};
    return parts;
}

Problem make_lock(const FamilyArguments& arguments) {
    const std::string& variant = arguments.text("variant");
    const Index length = arguments.integer("length");
    const Index actions = arguments.integer("actions");
    ProblemDescription parts = variant == "end"    ? make_end(arguments, length, actions)
                               : variant == "deep" ? make_deep(arguments, length, actions)
                                                   : make_reset(arguments, length, actions);
    parts.truth = draw_weights(arguments, parts.horizon, parts.features->features());
    return Problem(std::move(parts));
}

}  // namespace

Family lock_family() {
    const std::string length_meaning = "Number of positions of the lock.";
    const Index max_length = max_horizon - 1;
    return {
        "lock",
        "A combination lock: one action of each position leads on, and what is to be learned lies at "
        "the end.",
        {
            variant_parameter({"end", "deep", "reset"},
                              "end: sure steps, informative at the last position, horizon length + 1; deep: "
                              "noisy steps, three base models, informative at the last two; reset: "
                              "action 0 leads on, others start over."),
            only({"end"}, integer_parameter("length", 10, 1, max_length, length_meaning)),
            only({"deep"}, integer_parameter("length", 7, 2, max_length, length_meaning)),
            only({"reset"}, integer_parameter("length", 6, 3, max_length, length_meaning)),
            integer_parameter("actions", 3, 1, max_actions, "Number of actions."),
            only({"end", "reset"}, integer_parameter("features", 4, 1, max_features,
                                                     "Number of base models (reset: at most length).")),
            only({"end"}, integer_parameter("outcomes", 6, 1, max_states, "Number of end states.")),
            only({"deep"}, horizon_parameter(9)),
            only({"reset"}, horizon_parameter(7)),
            seed_parameter(),
        },
        make_lock};
}

}  // namespace alidade::detail
