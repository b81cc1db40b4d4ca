#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/model/policy.hpp"
#include "alidade/model/shape.hpp"

namespace alidade::detail {

/// The policy of [[x for each state] for each step], x as in policy_file.hpp. Throws InvalidArgument,
/// starting with `file`.
Policy policy_of(const nlohmann::json& rows, const Shape& shape, const std::string& file);

}  // namespace alidade::detail
