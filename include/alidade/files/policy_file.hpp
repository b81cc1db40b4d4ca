#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "alidade/model/policy.hpp"
#include "alidade/model/shape.hpp"

namespace alidade {

/// Reads a policy: {"policy": [[x for each state] for each step]}, where x is an action, or a list of A
/// probabilities that sum to one within 1e-9. Actions count from 0. With a list anywhere the policy is
/// stochastic. Throws InvalidArgument naming file, step, state, value and range.
Policy read_policy(const std::filesystem::path& path, const Shape& shape);
/// The same from text; `file` is what messages call it.
Policy parse_policy(std::string_view text, const std::string& file, const Shape& shape);

/// Writes a policy; reading it gives an equal policy.
void write_policy(const std::filesystem::path& path, const Policy& policy);

}  // namespace alidade
