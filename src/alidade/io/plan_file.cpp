#include "alidade/io/plan_file.hpp"

#include <limits>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/io/json_file.hpp"
#include "alidade/io/policy_json.hpp"

namespace alidade {
namespace {

using nlohmann::json;

/// One choice for each state of the unrolled model: H*S of them, then `end`, then perhaps `start`.
Policy policy_of_choices(const json& choices, const Shape& shape, const std::string& file) {
    const auto size = static_cast<Index>(list(choices, file + ": \"choices\"").size());
    const Index decisions = shape.horizon * shape.states;
    expects(size == decisions + 1 || size == decisions + 2,
            "{}: \"choices\" has {} elements; {} states over {} steps need {}, or {} with a start state",
            file, size, shape.states, shape.horizon, decisions + 1, decisions + 2);
    std::vector<std::int32_t> actions;
    for (Index i = 0; i < decisions; ++i)
        actions.push_back(static_cast<std::int32_t>(position(
            choices[static_cast<std::size_t>(i)], shape.actions - 1,
            fmt::format("{}: choice of step {}, state {}", file, i / shape.states, i % shape.states))));
    return Policy::deterministic(shape, std::move(actions));
}

}  // namespace

Plan read_plan(const std::filesystem::path& path, const Shape& shape) {
    validate(shape);
    const json document = read_json(path);
    const std::string file = path.string();
    check_object(document, {"policy", "choices", "value", "accuracy", "planner"}, file);
    expects(document.contains("policy") != document.contains("choices"),
            "{}: must have one of the keys \"policy\" and \"choices\", and has {}", file,
            document.contains("policy") ? "both" : "neither");
    Plan plan{document.contains("policy") ? policy_of(document["policy"], shape, file)
                                          : policy_of_choices(document["choices"], shape, file),
              std::nullopt, std::numeric_limits<double>::infinity()};
    if (document.contains("value")) plan.claimed_value = number(document["value"], file + ": \"value\"");
    if (document.contains("accuracy")) {
        plan.claimed_accuracy = number(document["accuracy"], file + ": \"accuracy\"");
        expects(plan.claimed_accuracy >= 0, "{}: \"accuracy\": is {}; must be at least 0", file,
                plan.claimed_accuracy);
    }
    return plan;
}

}  // namespace alidade
