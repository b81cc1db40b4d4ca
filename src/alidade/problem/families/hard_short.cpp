#include "families.hpp"
#include "hard.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

/// Zhou and Gu (2022): the first step decides, and every step has the same weights.
Problem make_hard_short(const FamilyArguments& arguments) {
    const Index horizon = arguments.integer("horizon"), episodes = arguments.integer("episodes");
    const HardLine line =
        HardLine::of_one_state(arguments.integer("features"), static_cast<double>(episodes));
    check_exits("hard-short", line, horizon, episodes);
    ProblemDescription parts;
    parts.name = "hard-short";
    parts.features = std::make_shared<const FeatureMap>(line.map(line.norm_bound()));
    parts.horizon = horizon;
    parts.homogeneous = true;
    parts.truth = line.weights(drawn_corner(arguments, line, 0)).transpose();
    parts.state_names = {"undecided", "missed", "exit"};
    parts.rewards.push_back(
        {"exit", "1 at every step after the exit was taken.", exit_reward(line, horizon, 1)});
    parts.rewards.push_back({"exit-share", "1/H at every step after the exit was taken, as in the source.",
                             exit_reward(line, horizon, 1 / static_cast<double>(horizon))});
    return Problem(std::move(parts));
}

}  // namespace

Family hard_short_family() {
    return {
        "hard-short",
        "The lower-bound instance in three states: signed features, one set of weights for all steps.",
        {
            integer_parameter("features", 5, 2, 10, "Number of features d; there are 2^(d-1) actions."),
            horizon_parameter(10),
            integer_parameter("episodes", 96, 1, 1'000'000'000'000,
                              "How many episodes shall hardly tell the actions apart; a run may have more."),
            seed_parameter(),
        },
        make_hard_short};
}

}  // namespace alidade::detail
