#include "atlas_arguments.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "alidade/certify/atlas_goal.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "arrays.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

std::string names_of(const std::vector<AtlasObjective>& objectives) {
    std::string names;
    for (const AtlasObjective& objective : objectives) names += (names.empty() ? "" : ", ") + objective.name;
    return names;
}

std::size_t place_of(const std::string& name, const char* what,
                     const std::vector<AtlasObjective>& objectives) {
    const auto found = std::ranges::find(objectives, name, &AtlasObjective::name);
    expects(found != objectives.end(), "{}: there is no objective '{}'; must be one of {}", what, name,
            names_of(objectives));
    return static_cast<std::size_t>(found - objectives.begin());
}

/// A reward, or (reward, scale, offset) as read_reward gives it.
ScaledReward scaled_reward_of(nb::handle object, const std::string& name, const Shape& shape) {
    if (!nb::isinstance<nb::tuple>(object)) return {reward_of(object, shape), {}};
    expects(nb::len(object) == 3,
            "objective '{}' is a tuple of {}; must be a reward, or (reward, scale, offset)", name,
            nb::len(object));
    const RewardScale scale{nb::cast<double>(nb::object(object[1])), nb::cast<double>(nb::object(object[2]))};
    expects(scale.scale > 0 && std::isfinite(scale.scale) && std::isfinite(scale.offset),
            "objective '{}' has scale {} and offset {}; must be more than 0, and a number", name, scale.scale,
            scale.offset);
    return {reward_of(nb::object(object[0]), shape), scale};
}

void add(std::vector<AtlasObjective>& objectives, const std::string& name, ScaledReward reward) {
    expects(std::ranges::count(objectives, name, &AtlasObjective::name) == 0,
            "the objective '{}' is named twice", name);
    objectives.push_back({name, Sense::maximise, reward.scale, std::move(reward.reward)});
}

std::vector<AtlasObjective> objectives_of(nb::handle given, nb::handle minimise, const Shape& shape,
                                          const Problem* problem) {
    std::vector<AtlasObjective> objectives;
    expects(!nb::isinstance<nb::str>(given),
            "objectives is a text; must be a dictionary {{name: reward}}, or a list of names");
    if (nb::hasattr(given, "items")) {
        for (const nb::handle item : given.attr("items")()) {
            const auto name = nb::cast<std::string>(nb::object(item[0]));
            add(objectives, name, scaled_reward_of(nb::object(item[1]), name, shape));
        }
    } else {
        expects(problem != nullptr,
                "objectives have no rewards; must be a dictionary {{name: reward}} where the problem is not "
                "known");
        for (const nb::handle name : given) {
            const auto text = nb::cast<std::string>(name);
            add(objectives, text, {make_reward(*problem, text), {}});
        }
    }
    if (minimise.is_none()) return objectives;
    expects(!nb::isinstance<nb::str>(minimise), "minimise is a text; must be a list of names");
    for (const nb::handle name : minimise) {
        AtlasObjective& objective = objectives[place_of(nb::cast<std::string>(name), "minimise", objectives)];
        if (objective.sense == Sense::minimise) continue;
        objective.sense = Sense::minimise;
        objective.reward = complement(objective.reward);
    }
    return objectives;
}

std::vector<double> bounds_of(nb::handle given, const char* what, double otherwise,
                              const std::vector<AtlasObjective>& objectives) {
    std::vector<double> bounds;
    if (given.is_none()) return bounds;
    for (const auto& bound : numbers_by_objective(given, what, objectives))
        bounds.push_back(bound.value_or(otherwise));
    return bounds;
}

}  // namespace

std::vector<std::optional<double>> numbers_by_objective(nb::handle given, const char* what,
                                                        const std::vector<AtlasObjective>& objectives) {
    std::vector<std::optional<double>> numbers(objectives.size());
    if (nb::hasattr(given, "items")) {
        for (const nb::handle item : given.attr("items")())
            numbers[place_of(nb::cast<std::string>(nb::object(item[0])), what, objectives)] =
                nb::cast<double>(nb::object(item[1]));
        return numbers;
    }
    const auto array = doubles(given, what);
    expects(array.ndim() == 1 && array.size() == objectives.size(),
            "{} have shape {}; must be {} numbers, one an objective, or a dictionary with names of {}", what,
            shape_text(array), objectives.size(), names_of(objectives));
    std::copy(array.data(), array.data() + array.size(), numbers.begin());
    return numbers;
}

AtlasWanted atlas_wanted(const AtlasArguments& given, const Shape& shape, const Problem* problem, double loss,
                         int threads) {
    AtlasWanted wanted{objectives_of(given.objectives, given.minimise, shape, problem), {}};
    wanted.options.loss = loss;
    wanted.options.at_least = bounds_of(given.at_least, "at_least", 0, wanted.objectives);
    wanted.options.at_most = bounds_of(given.at_most, "at_most", 1, wanted.objectives);
    wanted.options.threads = threads_of(threads);
    return wanted;
}

std::optional<AtlasWanted> atlas_to_stop_at(const AtlasArguments& given, const Problem& problem,
                                            std::optional<double> until_loss, std::optional<double> target,
                                            int threads) {
    if (!until_loss) {
        expects(given.objectives.is_none(),
                "objectives are given, and no loss to stop at; exploring itself needs none: say until_loss");
        return std::nullopt;
    }
    expects(!given.objectives.is_none(), "until_loss is given, and no objectives; say whose weightings");
    expects(!target, "target and until_loss are given at once; must be one of them");
    expects(*until_loss > 0 && std::isfinite(*until_loss), "until_loss is {}; must be greater than 0",
            *until_loss);
    return atlas_wanted(given, problem.shape(), &problem, *until_loss, threads);
}

std::function<bool(const Knowledge&)> enough_for(const std::optional<AtlasWanted>& wanted) {
    if (!wanted) return {};
    const auto goal = std::make_shared<AtlasGoal>(rewards_of(wanted->objectives), wanted->options);
    return [goal](const Knowledge& knowledge) { return goal->met(knowledge); };
}

}  // namespace alidade::python
