#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/problem/problem.hpp"
#include "alidade/spec/request.hpp"

namespace alidade {

/// One documented parameter of a family.
using FamilyParameter = RequestParameter;
/// The values of one request for a problem.
using FamilyArguments = RequestArguments;

/// A family of built-in problems.
struct Family {
    std::string name;
    std::string summary;  ///< one sentence
    std::vector<FamilyParameter> parameters;
    std::function<Problem(const FamilyArguments&)> make;
};

/// All families, in the order in which they are shown.
const std::vector<Family>& families();

/// Whether `uri` starts with "builtin:".
bool is_builtin(std::string_view uri);

/// The problem of "builtin:NAME?parameter=value&..."; lists are comma-separated. Throws InvalidArgument
/// if the address is malformed, names a parameter twice, or names a family or parameter that does not
/// exist (the message lists those that do).
Problem make_builtin(std::string_view uri);

}  // namespace alidade
