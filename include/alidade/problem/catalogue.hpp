#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/problem/problem.hpp"

namespace alidade {

/// What a family's parameter takes.
enum class ParameterKind { integer, real, text, integer_list };

/// One documented parameter of a family. Every parameter has a default. A family with variants has a
/// text parameter "variant", and may list a name more than once, each time for other variants.
struct FamilyParameter {
    std::string name;
    ParameterKind kind = ParameterKind::integer;
    std::string default_value;          ///< a value, or, if `derived`, the formula in words
    bool derived = false;               ///< the default follows from other parameters
    std::string meaning;                ///< one sentence, with the unit
    double minimum = 0;                 ///< smallest number allowed (numbers only)
    double maximum = 0;                 ///< largest number allowed (numbers only)
    std::vector<std::string> choices;   ///< allowed words (text only)
    std::vector<std::string> variants;  ///< the variants that take it; empty: all
};

/// The values of one request: parsed, complete (but for derived defaults) and within their ranges.
class FamilyArguments {
public:
    /// Throws InvalidArgument naming an unknown parameter, one that the chosen variant does not take, a
    /// bad number or a value out of range. Messages begin with `where`: "builtin:garnet".
    FamilyArguments(std::string_view where, const std::vector<FamilyParameter>& parameters,
                    const std::map<std::string, std::string>& given);

    /// Whether the request names the parameter, so that a derived default is not wanted.
    bool given(std::string_view name) const { return given_.contains(name); }
    /// The value of a parameter of that kind. Throws BrokenInvariant if the family has none of that name
    /// or leaves its default to be derived.
    Index integer(std::string_view name) const;
    double real(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    std::vector<Index> integers(std::string_view name) const;
    /// The value if given, otherwise `derived`.
    Index integer_or(std::string_view name, Index derived) const {
        return given(name) ? integer(name) : derived;
    }

private:
    const std::string& raw(std::string_view name) const;
    std::map<std::string, std::string, std::less<>> values_;
    std::set<std::string, std::less<>> given_;
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

/// The problem of "builtin:NAME?parameter=value&..."; lists are comma-separated. Throws InvalidArgument
/// if the address is malformed, names a parameter twice, or names a family or parameter that does not
/// exist (the message lists those that do).
Problem make_builtin(std::string_view uri);

}  // namespace alidade
