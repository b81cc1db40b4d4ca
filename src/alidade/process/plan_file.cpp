#include "plan_file.hpp"

#include <limits>
#include <vector>

#include "../files/json_file.hpp"
#include "../files/policy_json.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "alidade/formats/layered_view.hpp"

namespace alidade::detail {
namespace {

using nlohmann::json;

Policy policy_of_choices(const json& choices, const Shape& shape, const std::string& file) {
    std::vector<std::int32_t> flat;
    for (const json& choice : list(choices, file + ": \"choices\""))
        flat.push_back(static_cast<std::int32_t>(position(choice, std::numeric_limits<std::int32_t>::max(),
                                                          fmt::format("{}: choice {}", file, flat.size()))));
    try {
        return policy_from_flat(shape, flat);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: \"choices\": {}", file, error.what()));
    }
}

}  // namespace

Plan read_plan(const std::filesystem::path& path, const Shape& shape) {
    return parse_plan(read_text(path), path.string(), shape);
}

Plan parse_plan(std::string_view text, const std::string& file, const Shape& shape) {
    validate(shape);
    const json document = parse_json(text, file);
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

}  // namespace alidade::detail
