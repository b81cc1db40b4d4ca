#include "gridworld.hpp"
#include "alidade/error.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {

SharedFeatures grid_features(const Cells& grid, double slip) {
    KernelSet kernels(grid.states(), 4, {"none", "left", "right", "uniform"}, 5);
    for (State s = 0; s < grid.states(); ++s) {
        for (Action a = 0; a < 4; ++a) {
            kernels.add(0, grid.step(s, a), 1);
            for (Index base = 1; base < 4; ++base) kernels.add(base, grid.step(s, a), 1 - slip);
            kernels.add(1, grid.step(s, a + 3), slip);
            kernels.add(2, grid.step(s, a + 1), slip);
            for (Index direction = 0; direction < 4; ++direction)
                kernels.add(3, grid.step(s, direction), slip / 4);
            kernels.end_pair();
        }
    }
    return kernels.features();
}

namespace {

template <class Value>
Reward reward_by_cell(const Cells& grid, Index horizon, Value value) {
    std::vector<double> values;
    for (Index y = 0; y < grid.height; ++y)
        for (Index x = 0; x < grid.width; ++x) values.insert(values.end(), 4, value(x, y));
    return Reward({grid.states(), 4, horizon}, std::move(values));
}

std::vector<NamedReward> grid_rewards(const Cells& grid, Index horizon) {
    const auto goal = [&](Index x, Index y) {
        return x == grid.width - 1 && y == grid.height - 1 ? 1.0 : 0.0;
    };
    const auto avoid = [&](Index x, Index y) {
        return x == grid.width / 2 && y < grid.height - 1 ? 0.0 : 1.0;
    };
    return {
        {"goal", "1 in the corner opposite to the start, 0 elsewhere.", reward_by_cell(grid, horizon, goal)},
        {"avoid", "0 in the column x = width / 2 (rounded down) below its top cell, 1 elsewhere.",
         reward_by_cell(grid, horizon, avoid)}};
}

}  // namespace

void name_grid(const Cells& grid, ProblemDescription& parts) {
    for (Index y = 0; y < grid.height; ++y)
        for (Index x = 0; x < grid.width; ++x) parts.state_names.push_back(fmt::format("{},{}", x, y));
    parts.action_names = {"up", "right", "down", "left"};
    parts.rewards = grid_rewards(grid, parts.horizon);
}

namespace {

Problem make_gridworld(const FamilyArguments& arguments) {
    const Cells grid{arguments.integer("width"), arguments.integer("height")};
    expects(grid.states() >= 2, "builtin:gridworld: a grid of 1 by 1 has no move; make it wider or higher");
    ProblemDescription parts;
    parts.name = "gridworld";
    parts.features = grid_features(grid, arguments.real("slip"));
    parts.horizon = arguments.integer_or("horizon", 2 * (grid.width + grid.height));
    parts.truth = draw_weights(arguments, parts.horizon, 4);
    name_grid(grid, parts);
    return Problem(std::move(parts));
}

}  // namespace

Family gridworld_family() {
    return {"gridworld",
            "A walk on a grid from the corner 0,0; the base models are ways to slip: none, left, right, "
            "uniform.",
            {
                integer_parameter("width", 5, 1, max_side, "Cells from left to right."),
                integer_parameter("height", 5, 1, max_side, "Cells from bottom to top."),
                derived_parameter("horizon", "2 (width + height)", 1, max_horizon, "Steps of an episode."),
                real_parameter("slip", "0.2", 0.001, 1,
                               "Chance of a slip: to the left or right of the intended direction, or in one "
                               "of all four."),
                seed_parameter(),
            },
            make_gridworld};
}

}  // namespace alidade::detail
