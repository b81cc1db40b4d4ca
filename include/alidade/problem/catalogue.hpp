#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/problem/problem.hpp"

namespace alidade {

/// What a family's parameter takes.
enum class ParameterKind { integer, real, text, integer_list };

/// One documented parameter of a family. Every parameter has a default.
struct FamilyParameter {
    std::string name;
    ParameterKind kind = ParameterKind::integer;
    std::string default_value;
    std::string meaning;               ///< one sentence, with the unit
    double minimum = 0;                ///< smallest number allowed (numbers only)
    double maximum = 0;                ///< largest number allowed (numbers only)
    std::vector<std::string> choices;  ///< allowed words (text only)
};

/// The values of one request: parsed, complete and within their ranges.
class FamilyArguments {
public:
    /// Throws InvalidArgument naming an unknown parameter, a bad number or a value out of range.
    FamilyArguments(std::string_view family, const std::vector<FamilyParameter>& parameters,
                    const std::map<std::string, std::string>& given);

    Index integer(std::string_view name) const;
    double real(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    std::vector<Index> integers(std::string_view name) const;

private:
    const std::string& raw(std::string_view name) const;
    std::map<std::string, std::string, std::less<>> values_;
};

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

/// The problem of "builtin:NAME?parameter=value&...". Unknown families and parameters are refused with
/// the names that exist.
Problem make_builtin(std::string_view uri);

}  // namespace alidade
