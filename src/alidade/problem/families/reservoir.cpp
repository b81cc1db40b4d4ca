#include "../reservoir.hpp"

#include "drawing.hpp"
#include "families.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

Problem make_reservoir(const FamilyArguments& arguments) {
    const Reservoir reservoir({.cells = arguments.integer("cells"),
                               .actions = arguments.integer("actions"),
                               .features = arguments.integer("features"),
                               .horizon = arguments.integer("horizon"),
                               .inflow = arguments.real("inflow"),
                               .start_level = arguments.real("start")});
    return reservoir.problem(
        draw_weights(arguments, reservoir.options().horizon, reservoir.options().features));
}

}  // namespace

Family reservoir_family() {
    return {"reservoir",
            "A reservoir with a continuous level, seen through a grid: released water, unknown inflow.",
            {
                integer_parameter("cells", 50, 1, 2000, "Cells of the grid over the level."),
                integer_parameter("actions", 3, 1, 100,
                                  "Releases to choose from: (a+1)/(actions+1) of the water."),
                integer_parameter("features", 3, 1, 100, "Inflow laws, from dry to wet."),
                horizon_parameter(4),
                real_parameter("inflow", "0.75", 0.01, 1,
                               "Largest inflow of a step, as a share of the capacity."),
                real_parameter("start", "0.5", 0, 1, "Level at the start, as a share of the capacity."),
                seed_parameter(),
            },
            make_reservoir};
}

}  // namespace alidade::detail
