#include "garnet.hpp"

#include <algorithm>

#include "../../model/row_block.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "kernel_set.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

constexpr Index default_successors = 8;
/// Large ones are drawn by as many threads as the machine has; rows do not depend on each other.
constexpr int most_drawing_threads = 64;

}  // namespace

std::vector<FamilyParameter> garnet_parameters(Index states, Index actions, Index features, Index horizon,
                                               Index successors) {
    return {
        integer_parameter("states", states, 1, max_states, "Number of states."),
        integer_parameter("actions", actions, 1, max_actions, "Number of actions."),
        integer_parameter("features", features, 1, max_features, "Number of base models."),
        horizon_parameter(horizon),
        derived_parameter("successors", fmt::format("min({}, states)", successors), 1, max_states,
                          "Possible next states of each state-action pair, at most the number of states."),
        integer_parameter("reach", 0, 0, max_states,
                          "How far successors are from their state at most; 0: anywhere."),
        real_parameter("concentration", "0.3", 0.001, 1000,
                       "Dirichlet concentration of the base rows: small is nearly deterministic, 1 uniform."),
        seed_parameter(),
    };
}

Problem make_garnet(const std::string& name, const FamilyArguments& arguments,
                    const InformativePairs& informative_pairs, Index successors_by_default) {
    const Index states = arguments.integer("states");
    const Index actions = arguments.integer("actions");
    const Index features = arguments.integer("features");
    const Index successors = arguments.integer_or("successors", std::min(successors_by_default, states));
    const double concentration = arguments.real("concentration");
    expects(successors <= states,
            "builtin:{}: parameter 'successors' is {}; it must be at most the number of states, {}", name,
            successors, states);

    const Index reach = arguments.integer("reach");
    // A window of as many states everywhere, which is shifted where it would go beyond an end.
    const Index window = reach == 0 ? states : std::min(states, 2 * reach + 1);
    expects(successors <= window,
            "builtin:{}: parameter 'successors' is {}; it must be at most 2 reach + 1 = {}", name, successors,
            window);

    std::vector<bool> informative;
    RowSource rows{states, actions, numbered_bases(features), successors, {}};
    rows.make = [&]() -> RowSource::Row {
        auto subsets = std::make_shared<SubsetSampler>(window);
        return [&, subsets](Index pair, BaseRow& row) {
            Stream support_stream = instance_stream(arguments, Draw::successors, pair);
            row.targets = subsets->draw(support_stream, successors);
            if (reach > 0)
                for (State& target : row.targets)
                    target += std::clamp<Index>(pair / actions - reach, 0, states - window);
            Stream row_stream = instance_stream(arguments, Draw::rows, pair);
            row.probabilities.resize(at(successors * features));
            std::vector<double> law;
            for (Index base = 0; base < features; ++base) {
                if (base == 0 || informative[at(pair)])
                    law = sample_dirichlet(row_stream, successors, concentration);
                for (Index j = 0; j < successors; ++j)
                    row.probabilities[at(j * features + base)] = law[at(j)];
            }
        };
    };

    // Which pairs are informative takes a while to draw of as many as would not fit.
    require_room(rows);
    informative = informative_pairs(states * actions);
    ProblemDescription parts;
    parts.name = name;
    parts.features =
        std::make_shared<const FeatureMap>(FeatureMap::from_rows(rows, Threads(most_drawing_threads)));
    parts.horizon = arguments.integer("horizon");
    parts.truth = draw_weights(arguments, parts.horizon, features);
    const Shape shape{states, actions, parts.horizon};
    parts.rewards.push_back(
        {"target", "1 in the last state, 0 elsewhere.", single_state_reward(shape, states - 1)});
    // Where every pair is informative this would be worth the same everywhere.
    if (std::find(informative.begin(), informative.end(), false) != informative.end())
        parts.rewards.push_back(
            {"informative", "1 for the states and actions on which the base models differ, 0 for the others.",
             Reward(shape, std::vector<double>(informative.begin(), informative.end()))});
    return Problem(std::move(parts));
}

Family garnet_family() {
    const auto make = [](const FamilyArguments& arguments) {
        const auto all = [](Index pairs) { return std::vector<bool>(static_cast<std::size_t>(pairs), true); };
        return make_garnet("garnet", arguments, all, default_successors);
    };
    return {"garnet",
            "Random sparse models: each pair has random successors, and each base model random "
            "probabilities on them.",
            garnet_parameters(20, 4, 5, 5, default_successors), make};
}

}  // namespace alidade::detail
