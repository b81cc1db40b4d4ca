#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "alidade/model/shape.hpp"
#include "alidade/plan/planner.hpp"

namespace alidade::detail {

/// Reads what a planner outside has found:
/// {"policy": [[x for each state] for each step], "value": 3.2, "accuracy": 1e-6, "planner": "storm 1.12"},
/// with x as in policy_file.hpp. Instead of "policy", "choices": [one choice for each state of the unrolled
/// model], where state h*S+s is state s at step h and those of what follows (end, start) do not matter.
/// "value" and "accuracy" (>= 0) are claims and may be left out, which claims no value and accuracy infinity;
/// "planner" is for people. Throws InvalidArgument naming file, place, value and range.
Plan read_plan(const std::filesystem::path& path, const Shape& shape);
/// The same from text; `file` is what messages call it.
Plan parse_plan(std::string_view text, const std::string& file, const Shape& shape);

}  // namespace alidade::detail
