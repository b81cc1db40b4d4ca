#include "atlas_json.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "alidade/error.hpp"
#include "json_file.hpp"

namespace alidade::detail {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

constexpr std::string_view format_name = "alidade-atlas";
constexpr int format_version = 1;
constexpr std::array all_limits{AtlasLimit::target, AtlasLimit::data, AtlasLimit::budget,
                                AtlasLimit::resolution, AtlasLimit::interrupted};
/// More would not be an atlas that anybody made, and could not be held.
constexpr std::int64_t most_parts = 100'000'000;

ordered_json tree_json(const std::vector<AtlasNode>& tree) {
    ordered_json nodes = ordered_json::array();
    for (const AtlasNode& node : tree) {
        if (node.cell == AtlasNode::split_further)
            nodes.push_back({{"split", node.split}, {"children", node.children}});
        else if (node.cell == AtlasNode::outside)
            nodes.push_back({{"outside", true}});
        else
            nodes.push_back({{"cell", node.cell}});
    }
    return nodes;
}

ordered_json policies_json(const Atlas& atlas) {
    ordered_json policies = ordered_json::array();
    for (std::size_t i = 0; i < atlas.policies.size(); ++i) {
        const AtlasPolicy& policy = atlas.policies[i];
        ordered_json lower = ordered_json::array(), upper = ordered_json::array();
        for (const Interval& value : policy.values) {
            lower.push_back(value.lower);
            upper.push_back(value.upper);
        }
        policies.push_back({{"file", policy_name(i)},
                            {"made_for", policy.made_for},
                            {"share", policy.share},
                            {"loss_bound", policy.loss_bound},
                            {"model_values", policy.model_values},
                            {"value_lower", lower},
                            {"value_upper", upper}});
    }
    return policies;
}

std::vector<double> numbers(const json& value, Index count, double most, const std::string& where) {
    list(value, where);
    expects(static_cast<Index>(value.size()) == count, "{} has {} numbers; must have {}", where, value.size(),
            count);
    std::vector<double> result;
    for (const json& entry : value) {
        result.push_back(number(entry, where));
        expects(result.back() >= 0 && result.back() <= most, "{}: {} is not from 0 to {}", where,
                result.back(), most);
    }
    return result;
}

double number_up_to(const json& object, std::string_view key, double most, const std::string& file) {
    const std::string where = fmt::format("{}: \"{}\"", file, key);
    const double value = number(member(object, key, file), where);
    expects(value >= 0 && value <= most, "{} is {}; must be from 0 to {}", where, value, most);
    return value;
}

std::vector<AtlasCell> cells_of(const json& document, const Atlas& atlas, const std::string& file) {
    const auto horizon = static_cast<double>(atlas.horizon);
    std::vector<AtlasCell> cells;
    for (const json& entry : list(member(document, "cells", file), file + ": \"cells\"")) {
        const std::string where = fmt::format("{}: cell {}", file, cells.size());
        check_object(entry, {"corners", "policy", "bounds", "loss_bound"}, where);
        AtlasCell cell;
        for (const json& corner : list(member(entry, "corners", where), where))
            cell.corners.push_back(position(corner, static_cast<Index>(atlas.corners.size()) - 1, where));
        cell.policy = position(member(entry, "policy", where), most_parts, where);
        cell.bounds = numbers(member(entry, "bounds", where), atlas.objectives, horizon, where);
        cell.loss_bound = number_up_to(entry, "loss_bound", horizon, where);
        cells.push_back(std::move(cell));
    }
    return cells;
}

std::vector<AtlasNode> tree_of(const json& document, const std::string& file) {
    std::vector<AtlasNode> tree;
    for (const json& entry : list(member(document, "tree", file), file + ": \"tree\"")) {
        const std::string where = fmt::format("{}: node {}", file, tree.size());
        check_object(entry, {"split", "children", "cell", "outside"}, where);
        AtlasNode node;
        if (entry.contains("split")) {
            const json &split = list(entry["split"], where),
                       &children = list(member(entry, "children", where), where);
            expects(split.size() == 3 && children.size() == 2,
                    "{}: a split has 3 corners and 2 children; here are {} and {}", where, split.size(),
                    children.size());
            for (std::size_t i = 0; i < 3; ++i) node.split[i] = position(split[i], most_parts, where);
            for (std::size_t i = 0; i < 2; ++i) node.children[i] = position(children[i], most_parts, where);
        } else if (entry.contains("cell")) {
            node.cell = position(entry["cell"], most_parts, where);
        } else {
            node.cell = AtlasNode::outside;
            expects(entry.value("outside", json()) == true, "{} is neither a split, nor a cell, nor outside",
                    where);
        }
        tree.push_back(node);
    }
    return tree;
}

void add_policies(const json& document, Atlas& atlas, AtlasHead& head, const std::string& file) {
    const auto horizon = static_cast<double>(atlas.horizon);
    for (const json& entry : list(member(document, "policies", file), file + ": \"policies\"")) {
        const std::string where = fmt::format("{}: policy {}", file, atlas.policies.size());
        check_object(
            entry, {"file", "made_for", "share", "loss_bound", "model_values", "value_lower", "value_upper"},
            where);
        const json& name = member(entry, "file", where);
        // Where it must be, so that an atlas cannot name files elsewhere.
        expects(name.is_string() && name == policy_name(atlas.policies.size()),
                "{}: its file is {}; must be {}", where, shown(name), policy_name(atlas.policies.size()));
        head.policies.push_back(name.get<std::string>());
        const auto values = [&](std::string_view key, double most) {
            return numbers(member(entry, key, where), atlas.objectives, most,
                           fmt::format("{}: {}", where, key));
        };
        AtlasPolicy policy{Policy::uniform({1, 1, 1}),
                           values("made_for", 1),
                           number_up_to(entry, "share", 1, where),
                           number_up_to(entry, "loss_bound", horizon, where),
                           values("model_values", horizon),
                           {}};
        const std::vector<double> lower = values("value_lower", horizon),
                                  upper = values("value_upper", horizon);
        for (std::size_t i = 0; i < lower.size(); ++i) policy.values.push_back({lower[i], upper[i]});
        atlas.policies.push_back(std::move(policy));
    }
}

void add_objectives(const json& document, AtlasHead& head, const std::string& file) {
    for (const json& entry : list(member(document, "objectives", file), file + ": \"objectives\"")) {
        const std::string where = fmt::format("{}: objective {}", file, head.objectives.size());
        check_object(entry, {"name", "sense", "offset", "scale"}, where);
        const json &name = member(entry, "name", where), &sense = member(entry, "sense", where);
        expects(name.is_string() && (sense == "maximise" || sense == "minimise"),
                "{}: must have a name, and be to maximise or to minimise", where);
        const RewardScale scale{number(member(entry, "scale", where), where),
                                number(member(entry, "offset", where), where)};
        expects(scale.scale > 0, "{}: the scale is {}; must be more than 0", where, scale.scale);
        head.objectives.push_back({name.get<std::string>(),
                                   sense == "minimise" ? Sense::minimise : Sense::maximise, scale,
                                   Reward::constant({1, 1, 1}, 0)});
    }
    const auto count = static_cast<Index>(head.objectives.size());
    expects(count >= Objectives::least && count <= Objectives::most,
            "{}: there are {} objectives; must be {} to {}", file, count, Objectives::least,
            Objectives::most);
}

}  // namespace

std::string policy_name(std::size_t i) {
    return fmt::format("policies/{:03}.json", i);
}

std::string objective_name(std::size_t i) {
    return fmt::format("objectives/{:03}.npz", i);
}

ordered_json atlas_json(const AtlasRecord& record) {
    const Atlas& atlas = record.atlas;
    const Shape& shape = record.objectives.front().reward.shape();
    ordered_json object{{"format", format_name},
                        {"version", format_version},
                        {"problem", record.problem},
                        {"episodes", atlas.episodes},
                        {"delta", atlas.failure_probability},
                        {"horizon", atlas.horizon},
                        {"states", shape.states},
                        {"actions", shape.actions}};
    object["objectives"] = ordered_json::array();
    for (const AtlasObjective& objective : record.objectives)
        object["objectives"].push_back(
            {{"name", objective.name},
             {"sense", objective.sense == Sense::maximise ? "maximise" : "minimise"},
             {"offset", objective.scale.offset},
             {"scale", objective.scale.scale}});
    object["region"] = {{"at_least", atlas.at_least}, {"at_most", atlas.at_most}};
    object["loss_bound"] = atlas.loss_bound;
    object["vacuous"] = atlas.vacuous();
    object["asked"] = atlas.asked;
    object["limited_by"] = to_string(atlas.limit);
    object["floor"] = atlas.floor;
    object["floor_weights"] = atlas.floor_weights;
    object["reward_free"] = atlas.reward_free;
    object["policies"] = policies_json(atlas);
    object["corners"] = atlas.corners;
    object["cells"] = ordered_json::array();
    for (const AtlasCell& cell : atlas.cells)
        object["cells"].push_back({{"corners", cell.corners},
                                   {"policy", cell.policy},
                                   {"bounds", cell.bounds},
                                   {"loss_bound", cell.loss_bound}});
    object["tree"] = tree_json(atlas.tree);
    object["outer"] = ordered_json::array();
    for (const AtlasOuter& outer : atlas.outer)
        object["outer"].push_back({{"weights", outer.weights}, {"optimal_upper", outer.optimal_upper}});
    object["certificates"] = atlas.certificates;
    object["rounds"] = atlas.rounds;
    return object;
}

Atlas atlas_of(const json& document, const std::string& file, AtlasHead& head) {
    expects(document.is_object() && document.value("format", json()) == format_name,
            "{}: this is no atlas (its \"format\" is not \"{}\")", file, format_name);
    expects(document.value("version", json()) == format_version,
            "{}: version {} of the format; this program reads {}", file,
            shown(document.value("version", json())), format_version);
    const json& problem = member(document, "problem", file);
    expects(problem.is_string(), "{}: \"problem\" must be a text", file);
    head.problem = problem.get<std::string>();
    constexpr std::int64_t largest = 1'000'000'000;
    const auto whole = [&](std::string_view key, std::int64_t most) {
        return position(member(document, key, file), most, fmt::format("{}: \"{}\"", file, key));
    };
    head.shape = {whole("states", largest), whole("actions", largest), whole("horizon", largest)};
    validate(head.shape);
    add_objectives(document, head, file);
    Atlas atlas;
    atlas.objectives = static_cast<Index>(head.objectives.size());
    atlas.horizon = head.shape.horizon;
    const auto horizon = static_cast<double>(atlas.horizon);
    const auto weights = [&](const json& from, std::string_view key) {
        return numbers(member(from, key, file), atlas.objectives, 1, fmt::format("{}: \"{}\"", file, key));
    };
    atlas.episodes = whole("episodes", std::int64_t{1} << 53U);
    atlas.certificates = whole("certificates", largest);
    atlas.rounds = whole("rounds", largest);
    atlas.failure_probability = number_up_to(document, "delta", 1, file);
    atlas.loss_bound = number_up_to(document, "loss_bound", horizon, file);
    atlas.asked = number(member(document, "asked", file), file + ": \"asked\"");
    atlas.floor = number_up_to(document, "floor", horizon, file);
    atlas.reward_free = number_up_to(document, "reward_free", horizon, file);
    atlas.floor_weights = weights(document, "floor_weights");
    const json& region = member(document, "region", file);
    check_object(region, {"at_least", "at_most"}, file + ": \"region\"");
    atlas.at_least = weights(region, "at_least");
    atlas.at_most = weights(region, "at_most");
    const json& limit = member(document, "limited_by", file);
    const auto known =
        std::ranges::find_if(all_limits, [&](AtlasLimit one) { return limit == to_string(one); });
    expects(known != all_limits.end(), "{}: \"limited_by\" is {}, which is unknown", file, shown(limit));
    atlas.limit = *known;
    for (const json& corner : list(member(document, "corners", file), file + ": \"corners\""))
        atlas.corners.push_back(
            numbers(corner, atlas.objectives, 1, fmt::format("{}: corner {}", file, atlas.corners.size())));
    atlas.cells = cells_of(document, atlas, file);
    atlas.tree = tree_of(document, file);
    add_policies(document, atlas, head, file);
    for (const json& entry : list(member(document, "outer", file), file + ": \"outer\"")) {
        const std::string where = fmt::format("{}: outer {}", file, atlas.outer.size());
        check_object(entry, {"weights", "optimal_upper"}, where);
        atlas.outer.push_back(
            {weights(entry, "weights"), number_up_to(entry, "optimal_upper", horizon, where)});
    }
    return atlas;
}

}  // namespace alidade::detail
